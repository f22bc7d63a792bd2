import { escapeIdentifier, escapeLiteral } from 'pg';
import type { AuditedColumn } from './audited-columns';

export interface AuditedTable {
  /** The column by which events name a row. Default: `id` */
  id?: string;
  /** Columns whose values no event has: it only says that they changed. Default: none */
  secret?: readonly string[];
  /** Columns that no event mentions, such as keys that follow from other columns. Default: none */
  omit?: readonly string[];
  /**
   * Who may read a row, for `GET /changes`: an expression of SQL over its columns, which gives 0 for everybody whom the
   * resource's routes let in, the id of the only user beside administrators, or -1 for administrators alone. A row whose
   * `deleted_at` is set counts as gone. Default: `GET /changes` has no change of this table
   */
  readers?: string;
}

type Row = 'OLD' | 'NEW';

/** Columns of every resource, which an event has in other ways. */
const KNOWN = ['id', 'created_at', 'updated_at', 'version'];

/** SQLSTATE where the audit can't tell which of several writers has changed a row: a trigger did, or another build wrote the contexts. */
export const SEVERAL_WRITERS = 'WR409';

/**
 * The context of a row that an UPDATE of several requests changes. Its trigger runs for each row, and looks for the line of the row:
 * as JSON, the contexts of all rows would be parsed for each of them (D-291).
 */
export const lineOf = (id: number, context: string): string => `\n${id}=${context}`;

/** The values that say who made a change, from a context; see audit-context.ts. */
const who = (context: string): string =>
  `(${context}->>'user_id')::bigint, ${context}->>'request_id', ${context}->>'address'`;

const COLUMNS = 'user_id, request_id, address, action, resource, resource_id';

/** Pairs of a name and a value that one call of a function of PostgreSQL takes. */
const MAX_PAIRS = 50;

/**
 * The body of the function that the triggers of a table call. Each table has its own, which names the table's columns: one
 * that asks for them in each change takes three times as long. So it is made anew when the columns change, see
 * {@link renewAudits}.
 */
export function auditFunctionBody(table: string, columns: readonly AuditedColumn[], options: AuditedTable): string {
  const audit = new Audit(table, columns, options);
  return `
  #variable_conflict use_column
  DECLARE
    -- Of a statement that writes rows of several requests: the context of each, by its id. An UPDATE has lines, see lineOf().
    audit_contexts text := nullif(current_setting('audit.contexts', true), '');
    audit_contexts_by_id jsonb;
    audit_context jsonb := CASE WHEN audit_contexts IS NULL THEN nullif(current_setting('audit.context', true), '')::jsonb END;
    audit_before jsonb;
    audit_after jsonb;
    audit_concealed text[] := '{}';
  BEGIN
    IF audit_contexts IS NOT NULL AND (pg_trigger_depth() > 1 OR (TG_OP = 'UPDATE') <> starts_with(audit_contexts, chr(10))) THEN
      RAISE EXCEPTION 'The audit can not tell which of several writers has changed a row' USING ERRCODE = '${SEVERAL_WRITERS}';
    END IF;
    IF TG_OP = 'UPDATE' THEN${audit.contextOfUpdate()}${audit.comparisons()}
      INSERT INTO audit_events (${COLUMNS}, version_before, version_after, before, after, concealed, readers_before, readers_after)
        VALUES (${who('audit_context')}, ${audit.actionOfUpdate()}, ${audit.resource}, ${audit.idOf('NEW')},
                ${audit.versionOf('OLD')}, ${audit.versionOf('NEW')}, audit_before, audit_after, audit_concealed,
                ${audit.readersOf('OLD')}, ${audit.readersOf('NEW')});
    ELSIF TG_OP = 'INSERT' THEN${audit.ofRows('CREATED', 'added', 'after')}
    ELSIF TG_OP = 'DELETE' THEN${audit.ofRows('DELETED', 'removed', 'before')}
    ELSE
      INSERT INTO audit_events (user_id, request_id, address, action, resource)
        VALUES (${who('audit_context')}, 'TRUNCATED', ${audit.resource});
    END IF;
    RETURN NULL;
  END `;
}

/** The parts of the body. */
class Audit {
  readonly resource: string;
  private readonly idColumn: string;
  private readonly readers: string;
  private readonly names: ReadonlySet<string>;
  private readonly shown: AuditedColumn[];
  private readonly secret: AuditedColumn[];

  constructor(
    private readonly table: string,
    columns: readonly AuditedColumn[],
    { id = 'id', secret = [], omit = [], readers = 'NULL' }: AuditedTable,
  ) {
    this.resource = escapeLiteral(table.replaceAll('_', '-'));
    this.idColumn = escapeIdentifier(id);
    this.readers = readers;
    this.names = new Set(columns.map(({ name }) => name));
    const skipped = new Set([...KNOWN, id, ...omit]);
    const told = columns.filter(({ name }) => !skipped.has(name));
    this.shown = told.filter(({ name }) => !secret.includes(name));
    this.secret = told.filter(({ name }) => secret.includes(name));
  }

  /** Most updates change few columns: only these are made into JSON. */
  comparisons(): string {
    const shown = this.shown.map(({ name, isExact }) => {
      const [column, key] = [escapeIdentifier(name), escapeLiteral(name)];
      const pair = (row: Row) => `jsonb_build_object(${key}, ${row}.${column})`;
      return `
      IF ${differs(column, isExact)} THEN
        IF audit_before IS NULL THEN audit_before := ${pair('OLD')}; audit_after := ${pair('NEW')};
        ELSE audit_before := audit_before || ${pair('OLD')}; audit_after := audit_after || ${pair('NEW')};
        END IF;
      END IF;`;
    });
    const secret = this.secret.map(({ name, isExact }) => {
      return `
      IF ${differs(escapeIdentifier(name), isExact)} THEN audit_concealed := audit_concealed || ${escapeLiteral(name)}::text; END IF;`;
    });
    return [...shown, ...secret].join('');
  }

  contextOfUpdate(): string {
    if (!this.names.has('id')) return '';
    return `
      IF audit_contexts IS NOT NULL THEN
        audit_context := split_part(split_part(audit_contexts, chr(10) || OLD.id || '=', 2), chr(10), 1)::jsonb;
      END IF;`;
  }

  /** A row that is hidden counts as deleted. */
  actionOfUpdate(): string {
    if (!this.names.has('deleted_at')) return "'UPDATED'";
    return `CASE WHEN (OLD.deleted_at IS NULL) = (NEW.deleted_at IS NULL) THEN 'UPDATED'
                     WHEN NEW.deleted_at IS NULL THEN 'CREATED' ELSE 'DELETED' END`;
  }

  /** @param row the name of a row, or none for the columns of the row that is selected */
  idOf(row?: Row): string {
    return `${of(row)}${this.idColumn}::text`;
  }

  versionOf(row?: Row): string {
    return this.names.has('version') ? `${of(row)}version::integer` : 'NULL';
  }

  readersOf(row: Row): string {
    const isNumber = /^-?\d+$|^NULL$/.test(this.readers);
    const readers = isNumber
      ? `(${this.readers})::bigint`
      : `(SELECT (${this.readers})::bigint FROM (SELECT ${row}.*) AS ${this.table})`;
    return this.unlessHidden(readers, row);
  }

  /** One statement for all rows that a statement has inserted or deleted. */
  ofRows(action: string, rows: string, when: string): string {
    return `
      audit_contexts_by_id := audit_contexts::jsonb;
      INSERT INTO audit_events (${COLUMNS}, version_${when}, ${when}, concealed, readers_${when})
        SELECT ${who('audit_origin.context')}, '${action}', ${this.resource}, ${this.idOf()}, ${this.versionOf()},
               ${this.values()}, ${this.concealed()}, ${this.unlessHidden(`(${this.readers})::bigint`)}
          FROM ${rows} AS ${this.table}, LATERAL (SELECT ${this.contextOfRow()}) AS audit_origin(context);`;
  }

  /** The context of a row: one statement may write rows of several requests, see batched-statement.ts. */
  private contextOfRow(): string {
    return this.names.has('id')
      ? `coalesce(audit_contexts_by_id->${this.table}.id::text, audit_context)`
      : 'audit_context';
  }

  private unlessHidden(readers: string, row?: Row): string {
    return this.names.has('deleted_at') ? `CASE WHEN ${of(row)}deleted_at IS NULL THEN ${readers} END` : readers;
  }

  private values(): string {
    const pairs = this.shown.map(({ name }) => `${escapeLiteral(name)}, ${this.table}.${escapeIdentifier(name)}`);
    const objects: string[] = [];
    for (let first = 0; first < pairs.length || first === 0; first += MAX_PAIRS) {
      objects.push(`jsonb_build_object(${pairs.slice(first, first + MAX_PAIRS).join(', ')})`);
    }
    return objects.join(' || ');
  }

  private concealed(): string {
    if (this.secret.length === 0) return `'{}'`;
    const present = this.secret.map(({ name }) => {
      return `CASE WHEN ${this.table}.${escapeIdentifier(name)} IS NOT NULL THEN ${escapeLiteral(name)} END`;
    });
    return `array_remove(ARRAY[${present.join(', ')}]::text[], NULL)`;
  }
}

const of = (row: Row | undefined): string => (row ? `${row}.` : '');

/** Some types have no comparison, or one that takes different values for equal. */
function differs(column: string, isExact: boolean): string {
  const type = isExact ? '' : '::text';
  return `OLD.${column}${type} IS DISTINCT FROM NEW.${column}${type}`;
}
