import { Client, type PoolClient } from 'pg';
import type { Backend } from './cancellable-pool';
import { PooledClient } from './pooled-client';

/**
 * Ends connections: the server stops their statements and rolls their transactions back. Nobody waits for that, so a
 * failure is only passed to `onFailure`.
 */
export async function endBackends(
  clients: PoolClient[],
  databaseUrl: string,
  onFailure: (error: unknown) => void,
): Promise<void> {
  const pooled = clients.filter((client) => client instanceof PooledClient);
  await Promise.all(pooled.map((client) => client.abandon().catch(onFailure)));
  const backends = clients.filter((client) => !(client instanceof PooledClient)) as Backend[];
  if (backends.length === 0) return;
  // On this side at once: no COMMIT is sent any more, and a connection to an unreachable server leaves the pool.
  for (const backend of backends) void backend.end();
  // Also terminated on the server, because a statement that waits for a lock doesn't notice a closed connection. The
  // pool isn't used: a full pool may be the reason of the delay.
  const client = new Client({ connectionString: databaseUrl, connectionTimeoutMillis: 5_000 });
  client.on('error', onFailure);
  try {
    await client.connect();
    await client.query('SELECT pg_terminate_backend(pid) FROM unnest($1::int[]) AS pid', [
      backends.map(({ processID }) => processID),
    ]);
  } catch (error) {
    onFailure(error);
  } finally {
    await client.end();
  }
}
