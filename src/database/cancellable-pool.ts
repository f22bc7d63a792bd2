import { Client, Pool, type PoolClient } from 'pg';
import { ConnectionError } from './connection-error';
import { UnitOfWork } from './unit-of-work';

type Release = (error?: Error | boolean) => void;
type OnConnection = (error: Error | undefined, client: PoolClient | undefined, release: Release) => void;

/** What a pool's client also is. */
interface Backend extends PoolClient {
  processID: number;
  end(): Promise<void>;
}

/**
 * The driver's pool, with two things more. It knows which connections the current {@link UnitOfWork} holds, and
 * {@link cancelWork} ends them: TypeORM has no way to abandon a statement that runs, nor the transaction around it. And
 * whatever keeps it from connecting is a {@link ConnectionError}: some SQLSTATEs, as 55000, mean another thing later.
 */
export class CancellablePool extends Pool {
  override connect(): Promise<PoolClient>;
  override connect(onConnection: OnConnection): void;
  override connect(onConnection?: OnConnection): Promise<PoolClient> | void {
    const work = UnitOfWork.current();
    // TypeORM asks with a callback; a promise is asked for by nobody who belongs to a request.
    if (!onConnection) return super.connect().catch(noConnection);
    if (!work) return super.connect((error, client, release) => onConnection(explained(error), client, release));
    if (work.cancelled) return onConnection(work.cancelled, undefined, () => undefined);
    super.connect((error, client, release) => {
      if (!client) return onConnection(explained(error), client, release);
      if (work.cancelled) {
        release();
        return onConnection(work.cancelled, undefined, () => undefined);
      }
      work.hold(client);
      const giveBack: Release = (reason) => {
        work.release(client);
        // A connection that is being ended must not serve another request.
        release(reason ?? work.cancelled);
      };
      // query() of the pool calls the client's own.
      client.release = giveBack;
      onConnection(undefined, client, giveBack);
    });
  }
}

const explained = (error: Error | undefined): ConnectionError | undefined => error && new ConnectionError(error);

function noConnection(error: unknown): never {
  throw new ConnectionError(error);
}

/**
 * Calls a unit of work off: the server stops its statements and rolls its transactions back. The request was answered
 * already, so a failure here is for `onFailure` alone.
 */
export async function cancelWork(
  work: UnitOfWork,
  reason: Error,
  databaseUrl: string,
  onFailure: (error: unknown) => void,
): Promise<void> {
  const backends = work.cancel(reason) as Backend[];
  if (backends.length === 0) return;
  // From this side at once: no COMMIT goes out any more, and a server that can't be reached holds no place in the pool.
  for (const backend of backends) void backend.end();
  // From the other side too: a statement that waits for a lock doesn't notice. Not by a connection of the pool, as a full
  // pool may be the very reason for the delay.
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
