import { setTimeout as sleep } from 'node:timers/promises';
import { escapeLiteral } from 'pg';
import type { DataSource } from 'typeorm';

const PAUSE_MS = 200;

/**
 * Runs `work` while no other process runs work under the same name on this database. `work` uses other connections than
 * the one that holds the lock.
 *
 * Neither the process that has the lock nor those that wait for it hold a snapshot. `CREATE INDEX CONCURRENTLY` in `work`
 * waits for all older snapshots: with a statement that waits for the lock, both would wait for ever, and PostgreSQL would
 * see no deadlock.
 */
export async function withLock<T>(database: DataSource, name: string, work: () => Promise<T>): Promise<T> {
  for (;;) {
    const outcome = await tryWithLock(database, name, work);
    if (outcome) return outcome.result;
    await sleep(PAUSE_MS);
  }
}

/**
 * In a transaction without a snapshot between its statements, whatever the database's own isolation level is. The statement has
 * no parameters: with them PostgreSQL would keep its portal, and the portal's snapshot, until the end of the transaction.
 */
function tryWithLock<T>(
  database: DataSource,
  name: string,
  work: () => Promise<T>,
): Promise<{ result: T } | undefined> {
  const key = `hashtextextended(${escapeLiteral(`resource-api: ${name}`)}, 0)`;
  return database.transaction('READ COMMITTED', async (manager) => {
    const rows = await manager.query<{ locked: boolean }[]>(`SELECT pg_try_advisory_xact_lock(${key}) AS locked`);
    return rows[0].locked ? { result: await work() } : undefined;
  });
}
