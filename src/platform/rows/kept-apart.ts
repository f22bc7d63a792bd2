import type { DataSource, EntityMetadata } from 'typeorm';

/** Tables with row-level security, by schema and name. */
const protectedTables = new WeakMap<DataSource, Set<string>>();
/** Data sources whose connections are set up for one user at a time. */
const apart = new WeakSet<DataSource>();

/**
 * Finds the tables with row-level security, once at the start: a row that one session reads may not be shown to
 * another.
 */
export async function findProtectedTables(database: DataSource): Promise<void> {
  const rows = await database.query<{ table: string }[]>(
    `SELECT nspname || '.' || relname AS table
       FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE relrowsecurity`,
  );
  protectedTables.set(database, new Set(rows.map(({ table }) => table)));
}

/**
 * For an application that sets its connections up for each user, e.g. by `search_path` or `set_config()`. After this
 * call no read is shared between requests, no stored count is used, and every statement goes through TypeORM, on a
 * connection that a query runner requests from the driver. Call it before the first request. Tables with row-level
 * security are read this way in any case.
 */
export function keepSessionsApart(database: DataSource): void {
  apart.add(database);
}

/** True if sessions may see different rows of an entity. */
export function isKeptApart(database: DataSource, { schema, tableName }: EntityMetadata): boolean {
  if (apart.has(database) || setsConnectionsUp(database)) return true;
  const tables = protectedTables.get(database);
  return Boolean(tables?.size) && tables!.has(`${schema ?? database.driver.schema}.${tableName}`);
}

/**
 * True if the application has replaced the driver's way to lend a connection, which suggests that it sets connections
 * up.
 */
const setsConnectionsUp = ({ driver }: DataSource): boolean => Object.hasOwn(driver, 'obtainMasterConnection');
