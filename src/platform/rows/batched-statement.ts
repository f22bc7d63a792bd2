import type { QueryResultRow } from 'pg';
import type { ObjectLiteral } from 'typeorm';
import { CONTEXT_SETTING, CONTEXTS_SETTING } from '../transactions/audit-context';
import type { Writer } from '../transactions/writer';
import { anyNumberOf } from './any-number-of';
import { type PlainEntity, quoted } from './plain-entity';

/** How long the statement waits for a lock, in milliseconds. PostgreSQL looks for a deadlock after a second. */
const LOCK_PATIENCE = 50;

/** A row that one request writes. */
export interface BatchedRow {
  /** The values of the columns, in the order of the statement's names. */
  values: readonly unknown[];
  /** The row to change, and the version that it must have, or null for any version. Undefined for a new row. */
  target?: { id: number; version: number | null };
  writer: Writer;
  /** Who writes, for the audit, as JSON. */
  context: string;
}

/** PostgreSQL's types of lists, and the types of columns whose values they pass on as they are, whatever the table's own type is. */
const LISTS: Record<string, readonly unknown[]> = {
  smallint: ['smallint', 'int2'],
  integer: ['integer', 'int', 'int4'],
  bigint: ['bigint', 'int8'],
  numeric: ['numeric', 'decimal'],
  'double precision': ['double precision', 'float8', 'float'],
  boolean: ['boolean', 'bool', Boolean],
  text: ['text', 'varchar', 'character varying', String],
  uuid: ['uuid'],
  json: ['json'],
  jsonb: ['jsonb'],
  date: ['date'],
  timestamptz: ['timestamptz', 'timestamp with time zone'],
};

/** A statement that writes the rows of several requests. It checks all writers, and tells the audit who writes which row. */
export class BatchedStatement {
  readonly text: string;
  /** The number of parameters that are lists with a value of each row. */
  private readonly lists: number;

  private constructor(
    plain: PlainEntity<ObjectLiteral>,
    names: readonly string[],
    types: readonly string[],
    private readonly isUpdate: boolean,
  ) {
    const columns = names.map((_, index) => `given_${index}`);
    const given = isUpdate ? [...columns, 'given_id', 'given_version'] : columns;
    const lists = [...types, 'bigint', 'integer'].slice(0, given.length);
    this.lists = lists.length;
    const places = lists.map((type, index) => anyNumberOf(type, `$${index + 1}`));
    // The settings are made before the first row is written, and end with the transaction.
    const source = `unnest(${places.join()}) AS given(${given.join()}), set_config('lock_timeout', '${LOCK_PATIENCE}', true) AS given_patience`;
    const contexts = `set_config('${CONTEXTS_SETTING}', ${this.contexts}::text, true) AS given_contexts`;
    const changes = names.map((name, index) => `${name} = ${columns[index]}`);
    const present = plain.present ? ` AND ${plain.present}` : '';
    this.text = this.checked(
      isUpdate
        ? `UPDATE ${plain.table} SET ${changes.join()} FROM ${source}, ${contexts}
            WHERE id = given_id AND (given_version IS NULL OR version = given_version)${present} RETURNING ${plain.selection}`
        : `INSERT INTO ${plain.table} (${names.join()}) SELECT ${columns.join()} FROM ${source} RETURNING ${plain.selection}`,
    );
  }

  /**
   * @param names the quoted columns that are written
   * @returns undefined if a column has a type that lists don't pass on
   */
  static of(
    plain: PlainEntity<ObjectLiteral>,
    names: readonly string[],
    isUpdate: boolean,
  ): BatchedStatement | undefined {
    const types = names.flatMap((name) => listOf(plain, name) ?? []);
    if (names.length === 0 || types.length < names.length) return undefined;
    return new BatchedStatement(plain, names, types, isUpdate);
  }

  /** The values of the parameters for these rows. */
  valuesFor(rows: readonly BatchedRow[]): unknown[] {
    const targets = rows.flatMap(({ target }) => target ?? []);
    const ofTargets = this.isUpdate ? [targets.map(({ id }) => id), targets.map(({ version }) => version)] : [];
    // Two tokens of a user may have other roles.
    const keyOf = ({ id, sessionId, roles }: Writer) => `${id} ${sessionId} ${roles.join()}`;
    const writers = [...new Map(rows.map(({ writer }) => [keyOf(writer), writer])).values()];
    return [
      ...rows[0].values.map((_, index) => rows.map(({ values }) => values[index])),
      ...ofTargets,
      writers.map(({ sessionId }) => sessionId ?? null),
      writers.map(({ id }) => id),
      writers.map(({ roles }) => JSON.stringify(roles)),
      this.isUpdate ? contextsOf(rows) : rows.map(({ context }) => context),
    ];
  }

  /** What was written of these rows, in their order. Undefined for a row that isn't there, or has another version. */
  rowsFor<R extends QueryResultRow>(rows: readonly BatchedRow[], written: R[]): (R | undefined)[] {
    if (!this.isUpdate) return written;
    const found = new Map(written.map((row) => [(row as unknown as { id: number }).id, row]));
    return rows.map(({ target }) => found.get(target!.id));
  }

  /** Each part counts the rows of the one before: all rows are written, and their locks taken, before a writer is checked. */
  private checked(write: string): string {
    const [sessions, ids, roles] = [1, 2, 3].map((place) => `$${this.lists + place}`);
    const writers = [anyNumberOf('uuid', sessions), anyNumberOf('bigint', ids), anyNumberOf('json', roles)];
    // Rows are inserted in the order of the lists. Without a row there is no key, which is refused: a trigger has left it out.
    const told = `
      told AS MATERIALIZED (
        SELECT set_config('${CONTEXTS_SETTING}', json_object_agg(id, context)::text, true), ${REFUSED_BEFORE}
          FROM (SELECT id, row_number() OVER () FROM written) AS inserted(id, place)
         RIGHT JOIN unnest(${anyNumberOf('json', this.contexts)}) WITH ORDINALITY AS origin(context, place) USING (place))`;
    const last = this.isUpdate ? 'checked' : 'told';
    return `
      WITH written AS (${write}),
      checked AS MATERIALIZED (
        SELECT require_writer(writer.session, writer.id, ARRAY(SELECT json_array_elements_text(writer.roles)))
          FROM (SELECT count(*) FROM written) AS all_written,
               unnest(${writers.join()}) AS writer(session, id, roles))${this.isUpdate ? '' : `,${told}`}
      SELECT written.* FROM written WHERE (SELECT count(*) FROM checked) + (SELECT count(*) FROM ${last}) > 0`;
  }

  /** The parameter of the contexts. */
  private get contexts(): string {
    return `$${this.lists + 4}`;
  }
}

/**
 * An earlier release that has put its own triggers back takes this setting for the only context, and fails: so the rows are
 * written alone, and no event lacks its caller.
 */
const REFUSED_BEFORE = `set_config('${CONTEXT_SETTING}', 'several', true)`;

/** The contexts by the ids of their rows, as JSON. */
function contextsOf(rows: readonly BatchedRow[]): string {
  return `{${rows.map(({ target, context }) => `"${target!.id}":${context}`).join()}}`;
}

/** The type of a list of a column's values. Undefined if there is none, as for values that are lists themselves. */
function listOf({ metadata }: PlainEntity<ObjectLiteral>, name: string): string | undefined {
  const column = metadata.columns.find(({ databaseName }) => quoted(databaseName) === name);
  return Object.keys(LISTS).find((list) => column && !column.isArray && LISTS[list].includes(column.type));
}
