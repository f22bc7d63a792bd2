import { escapeLiteral } from 'pg';

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

/** Columns of every resource, which an event has in other ways. */
const KNOWN = ['id', 'created_at', 'updated_at', 'version'];

/** The columns that say who made a change; see audit-context.ts. */
const WHO = `(context->>'user_id')::bigint, context->>'request_id', context->>'address'`;

const COLUMNS = 'user_id, request_id, address, action, resource, resource_id';

/**
 * The function that the triggers of a table call. Each table has its own, because it has columns of the table in its
 * statements. One statement inserts the events of a change.
 */
export function auditFunction(
  table: string,
  { id = 'id', secret = [], omit = [], readers = 'NULL' }: AuditedTable,
): string {
  const resource = escapeLiteral(table.replaceAll('_', '-'));
  const idColumn = escapeLiteral(id);
  const skipped = [...KNOWN, id, ...omit];
  const hidden = arrayOf(secret);
  const readersOf = (row: 'OLD' | 'NEW') =>
    `CASE WHEN ${row}_row->>'deleted_at' IS NULL THEN (SELECT (${readers})::bigint FROM (SELECT ${row}.*) AS ${table}) END`;
  // A filter takes a third of the time of the statement.
  const ofShown = secret.length > 0 ? `FILTER (WHERE key <> ALL (${hidden}))` : '';
  const changedSecrets =
    secret.length > 0 ? `coalesce(array_agg(key ORDER BY key) FILTER (WHERE key = ANY (${hidden})), '{}')` : `'{}'`;
  const ofRows = (action: string, rows: string, when: string) => `
      INSERT INTO audit_events (${COLUMNS}, version_${when}, ${when}, concealed, readers_${when})
        SELECT ${WHO}, '${action}', ${resource}, one.row->>${idColumn}, (one.row->>'version')::integer,
               one.row - ${arrayOf([...skipped, ...secret])}, ${concealedOf(secret)},
               CASE WHEN one.row->>'deleted_at' IS NULL THEN one.readers END
          FROM (SELECT to_jsonb(${table}) AS row, (${readers})::bigint AS readers FROM ${rows} AS ${table} OFFSET 0) AS one;`;
  return `
  CREATE OR REPLACE FUNCTION ${table}_audit() RETURNS trigger LANGUAGE plpgsql AS $audit$
  DECLARE
    context jsonb := nullif(current_setting('audit.context', true), '')::jsonb;
    old_row jsonb;
    new_row jsonb;
  BEGIN
    IF TG_OP = 'UPDATE' THEN
      old_row := to_jsonb(OLD);
      new_row := to_jsonb(NEW);
      INSERT INTO audit_events (${COLUMNS}, version_before, version_after, before, after, concealed,
                                readers_before, readers_after)
        SELECT ${WHO},
               -- A row that is hidden counts as deleted.
               CASE WHEN old_row->>'deleted_at' IS NULL AND new_row->>'deleted_at' IS NOT NULL THEN 'DELETED'
                    WHEN old_row->>'deleted_at' IS NOT NULL AND new_row->>'deleted_at' IS NULL THEN 'CREATED'
                    ELSE 'UPDATED' END,
               ${resource}, new_row->>${idColumn}, (old_row->>'version')::integer, (new_row->>'version')::integer,
               jsonb_object_agg(key, old_row->key) ${ofShown}, jsonb_object_agg(key, value) ${ofShown}, ${changedSecrets},
               ${readersOf('OLD')},
               ${readersOf('NEW')}
          FROM jsonb_each(new_row) WHERE value IS DISTINCT FROM old_row->key AND key <> ALL (${arrayOf(skipped)});
    ELSIF TG_OP = 'INSERT' THEN${ofRows('CREATED', 'added', 'after')}
    ELSIF TG_OP = 'DELETE' THEN${ofRows('DELETED', 'removed', 'before')}
    ELSE
      INSERT INTO audit_events (user_id, request_id, address, action, resource) VALUES (${WHO}, 'TRUNCATED', ${resource});
    END IF;
    RETURN NULL;
  END $audit$`;
}

function concealedOf(secret: readonly string[]): string {
  if (secret.length === 0) return `'{}'`;
  return `ARRAY(SELECT name FROM unnest(${arrayOf(secret)}) AS name WHERE one.row->>name IS NOT NULL)`;
}

/** Columns as an array of SQL. */
const arrayOf = (columns: readonly string[]): string => `${escapeLiteral(`{${columns.join()}}`)}::text[]`;
