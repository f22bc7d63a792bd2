import type { DataSource } from 'typeorm';
import { writtenTables } from './changed-tables';

const auditedTables = new WeakMap<DataSource, Set<string>>();

/**
 * SQL for the tables whose changes `auditRows()` records, and for the tables and views of which a change may go on to one of them: by
 * ON DELETE or ON UPDATE of a foreign key, by the view's own rules, or by a trigger that isn't one of the platform's.
 */
const AUDITED_TABLES = `
  WITH RECURSIVE audited AS (
    SELECT tgrelid AS oid FROM pg_trigger
      JOIN pg_class ON pg_class.oid = tgrelid JOIN pg_proc ON pg_proc.oid = tgfoid
     WHERE NOT tgisinternal AND tgenabled <> 'D'
       AND proname NOT IN ('touch_row', 'keep_audit_events') AND NOT starts_with(proname, relname || '_count')
    UNION
    SELECT source.oid FROM audited, LATERAL (
      SELECT confrelid AS oid FROM pg_constraint
       WHERE conrelid = audited.oid AND contype = 'f' AND (confdeltype IN ('c', 'n', 'd') OR confupdtype IN ('c', 'n', 'd'))
      UNION ALL
      SELECT ev_class FROM pg_rewrite JOIN pg_depend
        ON classid = 'pg_rewrite'::regclass AND objid = pg_rewrite.oid AND refclassid = 'pg_class'::regclass
       WHERE refobjid = audited.oid
    ) AS source
  )
  SELECT DISTINCT relname AS table FROM audited JOIN pg_class ON pg_class.oid = audited.oid`;

/** Finds the tables once at the start. */
export async function findAuditedTables(database: DataSource): Promise<void> {
  const rows = await database.query<{ table: string }[]>(AUDITED_TABLES);
  auditedTables.set(database, new Set(rows.map(({ table }) => table)));
}

/** TRUNCATE ... CASCADE empties tables that it doesn't name. */
const EMPTIES = /\btruncate\b/i;
const CASCADES = /\bcascade\b/i;

/** True if a statement may change rows of an audited table. A function that writes isn't recognised. */
export function changesAudited(database: DataSource, query: string): boolean {
  const tables = auditedTables.get(database);
  if (tables === undefined) return false;
  return writtenTables(query).some((table) => tables.has(table)) || (EMPTIES.test(query) && CASCADES.test(query));
}
