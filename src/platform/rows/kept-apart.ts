import type { DataSource, EntityMetadata } from 'typeorm';

/** Tables whose rows the database shows to some of its sessions only, by their schemas and names. */
const protectedTables = new WeakMap<DataSource, Set<string>>();
/** Data sources whose connections belong to somebody while they are lent. */
const apart = new WeakSet<DataSource>();

/** Asks the database once which tables have row-level security: what one session reads there is not for another. */
export async function findProtectedTables(database: DataSource): Promise<void> {
  const rows = await database.query<{ table: string }[]>(
    `SELECT nspname || '.' || relname AS table
       FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE relrowsecurity`,
  );
  protectedTables.set(database, new Set(rows.map(({ table }) => table)));
}

/**
 * For an application that sets its connections up for whoever it serves, by `search_path` or `set_config()`, say: from here on no
 * read is shared with another request, no row counted ahead, and every statement goes through TypeORM, on a connection that
 * a query runner has asked the driver for. To be called before the first request. Tables with row-level security are read so in
 * any case.
 */
export function keepSessionsApart(database: DataSource): void {
  apart.add(database);
}

/** Whether what a session reads of an entity may be another than what others read. */
export function isKeptApart(database: DataSource, { schema, tableName }: EntityMetadata): boolean {
  if (apart.has(database) || setsConnectionsUp(database)) return true;
  const tables = protectedTables.get(database);
  return Boolean(tables?.size) && tables!.has(`${schema ?? database.driver.schema}.${tableName}`);
}

/** Whether the application has replaced the driver's way to lend a connection, which nobody does without a reason of that kind. */
const setsConnectionsUp = ({ driver }: DataSource): boolean => Object.hasOwn(driver, 'obtainMasterConnection');
