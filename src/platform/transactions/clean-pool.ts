import { Logger } from '@nestjs/common';
import { Pool, type PoolClient } from 'pg';

type Release = (error?: Error | boolean) => void;
export type OnConnection = (error: Error | undefined, client: PoolClient | undefined, release: Release) => void;

/** What node-postgres's client also is. */
interface Connection extends PoolClient {
  release: Release;
  /** Whether it has run anything yet. */
  hasExecuted: boolean;
  /** False while a statement runs, or waits to. */
  readyForQuery: boolean;
}

const logger = new Logger('Database');

/**
 * The driver's pool, which lends no connection out that somebody has left inside of a transaction: whoever got it next
 * would write into that, and lose it all.
 */
export class CleanPool extends Pool {
  override connect(): Promise<PoolClient>;
  override connect(onConnection: OnConnection): void;
  override connect(onConnection?: OnConnection): Promise<PoolClient> | void {
    if (!onConnection) return super.connect().then((client) => watched(client as Connection));
    super.connect((error, client, release) =>
      onConnection(error, client, client ? watched(client as Connection).release : release),
    );
  }
}

function watched(client: Connection): Connection {
  const { release } = client;
  let released = false;
  client.release = (error) => {
    if (released) throw new Error('This connection was given back before');
    released = true;
    if (error || !client.hasExecuted) release(error);
    else if (client.readyForQuery) giveBack(client, release);
    else afterAll(client, (end) => (end ? release(end) : giveBack(client, release)));
  };
  return client;
}

/** Of a connection, once all its statements are over: of one that has just failed, PostgreSQL tells that a little later. */
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
 * For a connection whose statements still run, or have just failed.
 * @param then told once all of them are over, or by what the connection has ended before: `true` when nothing says why
 */
function afterAll(client: Connection, then: (end?: Error | true) => void): void {
  const tell = (end?: Error | true) => {
    client.off('drain', onDrain).off('error', onEnd).off('end', onEnd);
    then(end);
  };
  const onDrain = () => tell();
  const onEnd = (error?: Error) => tell(error ?? true);
  client.on('drain', onDrain).on('error', onEnd).on('end', onEnd);
}
