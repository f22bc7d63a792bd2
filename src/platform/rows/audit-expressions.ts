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

type Row = 'OLD' | 'NEW' | 'removed' | 'added';

/** Columns of every resource, which an event has in other ways. */
const KNOWN = ['id', 'created_at', 'updated_at', 'version'];

/** The values that say who made a change, from a context; see audit-context.ts. */
export const who = (context: string): string =>
  `(${context}->>'user_id')::bigint, ${context}->>'request_id', ${context}->>'address'`;

export const COLUMNS = 'user_id, request_id, address, action, resource, resource_id';
export const CHANGES = 'version_before, version_after, before, after, concealed, readers_before, readers_after';

/** Pairs of a name and a value that one call of a function of PostgreSQL takes. */
const MAX_PAIRS = 50;

/** SQL of the functions that the triggers of a table call, see audit-function.ts. */
export class AuditExpressions {
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

  /** The values of one of both rows, for the attributes that have changed. */
  changed(row: Row): string {
    const pairs = this.shown.map(({ name, isExact }) => {
      const pair = `jsonb_build_object(${escapeLiteral(name)}, ${row}.${escapeIdentifier(name)})`;
      return ` || CASE WHEN ${differs(escapeIdentifier(name), isExact, 'removed', 'added')} THEN ${pair} ELSE '{}' END`;
    });
    return `nullif('{}'::jsonb${pairs.join('')}, '{}')`;
  }

  concealedChanges(): string {
    return namesWhere(this.secret, ({ name, isExact }) => differs(escapeIdentifier(name), isExact, 'removed', 'added'));
  }

  /** A row that is hidden counts as deleted. */
  actionOfUpdate(before: Row, after: Row): string {
    if (!this.names.has('deleted_at')) return "'UPDATED'";
    return `CASE WHEN (${before}.deleted_at IS NULL) = (${after}.deleted_at IS NULL) THEN 'UPDATED'
                     WHEN ${after}.deleted_at IS NULL THEN 'CREATED' ELSE 'DELETED' END`;
  }

  /** @param row the name of a row, or none for the columns of the row that is selected */
  idOf(row?: Row): string {
    return `${of(row)}${this.idColumn}::text`;
  }

  versionOf(row?: Row): string {
    return this.names.has('version') ? `${of(row)}version::integer` : 'NULL';
  }

  /** Whether both rows differ. A version tells at once; a comparison of whole rows takes longer. */
  isChange(before: Row, after: Row): string {
    const isOther = `${before} *<> ${after}`;
    return this.names.has('version') ? `(${before}.version <> ${after}.version OR ${isOther})` : isOther;
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
    return namesWhere(this.secret, ({ name }) => `${this.table}.${escapeIdentifier(name)} IS NOT NULL`);
  }
}

/** A list of the names of the columns for which a condition is true. */
function namesWhere(columns: AuditedColumn[], condition: (column: AuditedColumn) => string): string {
  if (columns.length === 0) return `'{}'`;
  const names = columns.map((column) => `CASE WHEN ${condition(column)} THEN ${escapeLiteral(column.name)} END`);
  return `array_remove(ARRAY[${names.join(', ')}]::text[], NULL)`;
}

const of = (row: Row | undefined): string => (row ? `${row}.` : '');

/** Some types have no comparison, or one that takes different values for equal. */
function differs(column: string, isExact: boolean, before: Row = 'OLD', after: Row = 'NEW'): string {
  const type = isExact ? '' : '::text';
  return `${before}.${column}${type} IS DISTINCT FROM ${after}.${column}${type}`;
}
