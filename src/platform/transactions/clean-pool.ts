import { Logger } from '@nestjs/common';
import { Pool, type PoolClient, type PoolConfig } from 'pg';

type Release = (error?: Error | boolean) => void;
export type OnConnection = (error: Error | undefined, client: PoolClient | undefined, release: Release) => void;

/** The additional properties of node-postgres's client. */
interface Connection extends PoolClient {
  release: Release;
  /** True if the connection has run a statement. */
  hasExecuted: boolean;
  /** False while a statement runs or is queued. */
  readyForQuery: boolean;
  /** True once the connection is closed. */
  _ended: boolean;
}

const logger = new Logger('Database');

/**
 * The driver's pool, with two differences. It never lends a connection that was left in a transaction: the next user would
 * write into that transaction, and lose everything. And each connection has a listener for its errors as long as it lives.
 * Otherwise a connection has none from when it is lent until its user listens, which is a moment later. An error without
 * a listener ends the process, and PostgreSQL may send one right behind the end of a statement. Nothing is hidden: the
 * connection's next statement fails.
 */
export class CleanPool extends Pool {
  constructor(options?: PoolConfig) {
    super(options);
    this.on('connect', (client) => client.on('error', nothing));
  }

  override connect(): Promise<PoolClient>;
  override connect(onConnection: OnConnection): void;
  override connect(onConnection?: OnConnection): Promise<PoolClient> | void {
    if (!onConnection) return super.connect().then((client) => watched(client as Connection));
    super.connect((error, client, release) =>
      onConnection(error, client, client ? watched(client as Connection).release : release),
    );
  }
}

const nothing = (): void => undefined;

function watched(client: Connection): Connection {
  const { release } = client;
  let released = false;
  const releaseOnce: Release = (error) => {
    if (released) throw new Error('This connection was given back before');
    released = true;
    if (error || !client.hasExecuted) release(error);
    else if (client.readyForQuery) giveBack(client, release);
    else afterAll(client, (end) => (end ? release(end) : giveBack(client, release)));
  };
  client.release = releaseOnce;
  return client;
}

/**
 * The transaction status of a connection after all its statements. PostgreSQL reports the end of a failed statement a
 * little later.
 */
export async function statusAfterAll(client: PoolClient): Promise<string | null> {
  const connection = client as Connection;
  if (!connection.readyForQuery) {
    await new Promise<void>((resolve, reject) => {
      afterAll(connection, (end) => (end instanceof Error ? reject(end) : resolve()));
    });
  }
  return connection.getTransactionStatus();
}

function giveBack(client: Connection, release: Release): void {
  if (client.getTransactionStatus() === 'I') return release();
  const error = new Error(
    'A connection was given back inside of a transaction, so it was closed, and what the transaction wrote is undone: ' +
      'end what BEGIN or startTransaction() has begun, or use dataSource.transaction()',
  );
  logger.error(error.message);
  release(error);
}

/**
 * Waits for the statements of a connection.
 * @param then called when all of them have ended, or the connection has. The argument is the error, or `true` if there
 *   is none
 */
function afterAll(client: Connection, then: (end?: Error | true) => void): void {
  const tell = (end?: Error | true) => {
    client.off('drain', onDrain).off('error', onEnd).off('end', onEnd);
    then(end);
  };
  // Its events have all come: nothing would tell any more.
  if (client._ended) return then(true);
  const onDrain = () => tell();
  const onEnd = (error?: Error) => tell(error ?? true);
  client.on('drain', onDrain).on('error', onEnd).on('end', onEnd);
}
