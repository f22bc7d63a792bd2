import type { DataSource } from 'typeorm';
import { writtenTables } from './changed-tables';

const auditedTables = new WeakMap<DataSource, Set<string>>();

/** A table whose changes are recorded, or go on to a table of which that may be true. */
interface Source {
  oid: number;
  table: string;
  /** The table to which its changes go on. Null for a table with a trigger. */
  changed: number | null;
}

/**
 * SQL for the tables whose changes `auditRows()` records, and for the tables and views of which a change goes on to another table: by
 * ON DELETE or ON UPDATE of a foreign key, by the view's own rules, or by a trigger that isn't one of the platform's. Without a
 * recursion: PostgreSQL takes a recursive query for so expensive that it compiles it, which takes 40 ms of each start.
 */
const SOURCES = `
  SELECT source.oid, relname AS table, changed FROM (
    SELECT tgrelid AS oid, NULL::oid AS changed FROM pg_trigger
      JOIN pg_class ON pg_class.oid = tgrelid JOIN pg_proc ON pg_proc.oid = tgfoid
     WHERE NOT tgisinternal AND tgenabled <> 'D'
       AND proname NOT IN ('touch_row', 'keep_audit_events') AND NOT starts_with(proname, relname || '_count')
    UNION
    SELECT confrelid, conrelid FROM pg_constraint
     WHERE contype = 'f' AND (confdeltype IN ('c', 'n', 'd') OR confupdtype IN ('c', 'n', 'd'))
    UNION
    SELECT ev_class, refobjid FROM pg_rewrite JOIN pg_depend
      ON classid = 'pg_rewrite'::regclass AND objid = pg_rewrite.oid AND refclassid = 'pg_class'::regclass
     WHERE ev_class <> refobjid
  ) AS source JOIN pg_class ON pg_class.oid = source.oid`;

/** Finds the tables once at the start. */
export async function findAuditedTables(database: DataSource): Promise<void> {
  const found = auditedAmong(await database.query<Source[]>(SOURCES));
  auditedTables.set(database, new Set(found.values()));
}

/** The names of the tables by which a table with a trigger is reached, by their oids. */
function auditedAmong(sources: Source[]): Map<number, string> {
  const found = new Map<number, string>();
  let before: number;
  do {
    before = found.size;
    for (const { oid, table, changed } of sources) {
      if (changed === null || found.has(changed)) found.set(oid, table);
    }
  } while (found.size > before);
  return found;
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
