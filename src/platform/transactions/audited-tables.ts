import type { DataSource } from 'typeorm';
import { writtenTables } from './changed-tables';

const auditedTables = new WeakMap<DataSource, Set<string>>();

/** SQL for the tables whose changes `auditRows()` records. */
export const AUDITED_TABLES = `
  SELECT DISTINCT relname AS table FROM pg_trigger
    JOIN pg_class ON pg_class.oid = tgrelid JOIN pg_proc ON pg_proc.oid = tgfoid
   WHERE proname = relname || '_audit' AND tgenabled <> 'D'`;

/** Finds the tables once at the start. */
export async function findAuditedTables(database: DataSource): Promise<void> {
  const rows = await database.query<{ table: string }[]>(AUDITED_TABLES);
  auditedTables.set(database, new Set(rows.map(({ table }) => table)));
}

/** True if a statement may change rows of an audited table. */
export function changesAudited(database: DataSource, query: string): boolean {
  const tables = auditedTables.get(database);
  return tables !== undefined && writtenTables(query).some((table) => tables.has(table));
}
