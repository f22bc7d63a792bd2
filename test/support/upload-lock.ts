import { DataSource } from 'typeorm';
import type { TestApi } from './test-api';

/** True if a process holds the lock of an upload. @param path ends with its key */
export async function isLocked({ app }: TestApi, path: string): Promise<boolean> {
  const rows = await app.nest.get(DataSource).query<unknown[]>(
    `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1
     AND (classid::bigint << 32) | objid::bigint = hashtextextended('resource-api: upload ' || $1, 0)`,
    [path.split('/').at(-1)],
  );
  return rows.length > 0;
}

/** The number of upload locks of all processes on this database. */
export async function countLocks({ app }: TestApi): Promise<number> {
  const [{ count }] = await app.nest.get(DataSource).query<{ count: number }[]>(
    `SELECT count(*)::int FROM pg_locks JOIN pg_database ON pg_database.oid = database
      WHERE locktype = 'advisory' AND objsubid = 1 AND datname = current_database()`,
  );
  return count;
}
