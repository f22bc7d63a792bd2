import type { DataSource } from 'typeorm';
import { StartupError } from '../config/startup-error';
import { poolOf } from '../transactions/cancellable-pool';

/**
 * Refuses a pooler that the settings don't name: statements would run in the sessions of others, and a time limit would
 * end them. A pooler makes up the process ids that it tells its clients.
 * @throws {StartupError}
 */
export async function requireSession(database: DataSource): Promise<void> {
  const client = await poolOf(database).connect();
  try {
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    if (rows[0].pid === (client as unknown as { processID: number }).processID) return;
  } finally {
    client.release();
  }
  throw new StartupError(
    'DATABASE_URL is that of a connection pooler, such as PgBouncer: set DATABASE_POOLER to transaction, which suits ' +
      'poolers in any mode.',
  );
}
