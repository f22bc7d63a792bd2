import type { DataSource } from 'typeorm';

/**
 * Runs `work` while no other process runs work under the same name on this database. `work` uses other connections than
 * the one that holds the lock.
 */
export async function withLock<T>(database: DataSource, name: string, work: () => Promise<T>): Promise<T> {
  return database.transaction(async (manager) => {
    await manager.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`resource-api: ${name}`]);
    return work();
  });
}
