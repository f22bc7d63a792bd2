import { DataSource } from 'typeorm';
import type { TestApi } from './test-api';

const SESSIONS = `SELECT (classid::bigint << 32) | objid::bigint AS lock
  FROM pg_locks JOIN pg_database ON pg_database.oid = database
 WHERE locktype = 'advisory' AND objsubid = 1 AND datname = current_database()`;
/** Behind a pooler the locks are rows. */
const LEASES = `SELECT hashtextextended('resource-api: upload ' || key, 0) AS lock FROM upload_leases
 WHERE expires_at > clock_timestamp()`;

/** True if a process holds the lock of an upload. @param path ends with its key */
export async function isLocked({ app }: TestApi, path: string): Promise<boolean> {
  const rows = await app.nest.get(DataSource).query<unknown[]>(
    `SELECT 1 FROM (${SESSIONS} UNION ALL ${LEASES}) AS locks
      WHERE lock = hashtextextended('resource-api: upload ' || $1, 0)`,
    [path.split('/').at(-1)],
  );
  return rows.length > 0;
}

/** The number of upload locks of all processes on this database. */
export async function countLocks({ app }: TestApi): Promise<number> {
  const [{ count }] = await app.nest
    .get(DataSource)
    .query<{ count: number }[]>(`SELECT count(*)::int FROM (${SESSIONS} UNION ALL ${LEASES}) AS locks`);
  return count;
}
