import { setTimeout as sleep } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { Client, type PoolClient, type PoolConfig, type QueryConfig, type QueryResult, type QueryResultRow } from 'pg';
import type { DataSource } from 'typeorm';
import type { OnConnection } from './clean-pool';
import { ConnectionError } from './connection-error';
import { LimitedPool } from './limited-pool';
import { type Lent, noteCommits } from './noted-commits';
import type { Turns } from './turns';
import { UnitOfWork } from './unit-of-work';

/** For how long the end of a pool waits for connections that are lent, in milliseconds: all requests have ended by then. */
const PATIENCE = 5_000;

const logger = new Logger('Database');

type Release = (error?: Error | boolean) => void;

/** What a pool's client also is. */
export interface Backend extends Lent {
  processID: number;
  end(): Promise<void>;
  /** Since when it runs a read that several requests may wait for, by the clock of `performance`. */
  sharedSince?: number;
}

/**
 * The driver's pool, with two things more. It knows which connections the current {@link UnitOfWork} holds, and which ones
 * are busy with reads that requests share, so that {@link endBackends} can end them: TypeORM has no way to abandon a statement
 * that runs, nor the transaction around it. And whatever keeps it from connecting is a {@link ConnectionError}: some
 * SQLSTATEs, as 55000, mean another thing later.
 */
export class CancellablePool extends LimitedPool {
  private readonly backends = new Set<Backend>();
  /** Whether what connects at this moment is a read that requests share. */
  private sharing = false;
  /** What connects at this moment, where it isn't the current unit of work. */
  private connecting?: UnitOfWork;
  /** What the units of work of requests wait for before each takes a connection; nothing when left out. */
  turns?: Turns;

  constructor(options?: PoolConfig) {
    super(options);
    this.on('connect', (client) => {
      noteCommits(client);
      this.backends.add(client as Backend);
    });
    this.on('remove', (client) => this.backends.delete(client as Backend));
    this.on('release', (_error, client) => ((client as Backend).sharedSince = undefined));
  }

  /** @param connect takes a connection before it returns, which belongs to the unit then */
  connectingFor<T>(unit: UnitOfWork, connect: () => T): T {
    this.connecting = unit;
    try {
      return connect();
    } finally {
      this.connecting = undefined;
    }
  }

  /** Runs a read that several requests may wait for, but nobody else. */
  queryShared<R extends QueryResultRow>(statement: QueryConfig): Promise<QueryResult<R>> {
    this.sharing = true;
    try {
      return this.query<R>(statement);
    } finally {
      this.sharing = false;
    }
  }

  /** Whether there are reads that requests share, or may be. */
  get sharesReads(): boolean {
    return this.waitingCount > 0 || this.sharedBefore(Infinity).length > 0;
  }

  /** The connections with shared reads that began before a moment, by the clock of `performance`. */
  sharedBefore(moment: number): Backend[] {
    return [...this.backends].filter(({ sharedSince = Infinity }) => sharedSince < moment);
  }

  override connect(): Promise<PoolClient>;
  override connect(onConnection: OnConnection): void;
  override connect(onConnection?: OnConnection): Promise<PoolClient> | void {
    // TypeORM always passes a callback. Callers that await a promise stand outside of any request.
    if (!onConnection) return super.connect().catch(noConnection);
    if (this.connecting) return this.connectFor(this.connecting, onConnection);
    const work = UnitOfWork.current();
    if (work) return this.connectInTurn(work, onConnection);
    const { sharing } = this;
    super.connect((error, client, release) => {
      if (sharing && client) (client as Backend).sharedSince = performance.now();
      onConnection(explained(error), client, release);
    });
  }

  /** Waits a moment for connections that are lent, and no longer: whoever has forgotten one would keep the process from ending. */
  override end(): Promise<void>;
  override end(onEnd: () => void): void;
  override end(onEnd?: () => void): Promise<void> | void {
    const isOver = new AbortController();
    const late = sleep(PATIENCE, true, isOver).catch(() => false);
    const ended = Promise.race([super.end().then(() => false), late]).then((isLate) => {
      isOver.abort();
      if (isLate) this.endForgotten();
    });
    return onEnd ? void ended.then(onEnd, onEnd) : ended;
  }

  private endForgotten(): void {
    logger.error('Connections were never given back: release each of them in a finally block');
    for (const backend of this.backends) void backend.on('error', nothing).end();
  }

  private connectInTurn(work: UnitOfWork, onConnection: OnConnection): void {
    const isFree = !work.origin || work.cancelled;
    if (!this.turns || isFree) return this.connectFor(work, onConnection);
    this.turns.add(
      {
        begin: (over) => this.connectFor(work, onConnection, over),
        refuse: (error) => onConnection(work.cancelled ?? error, undefined, nothing),
      },
      work,
    );
  }

  /** @param over told when there is no connection, its transaction commits, or it was given back */
  private connectFor(work: UnitOfWork, onConnection: OnConnection, over = nothing): void {
    const refuse = (error: Error | undefined) => {
      over();
      onConnection(error, undefined, nothing);
    };
    if (work.cancelled) return refuse(work.cancelled);
    super.connect((error, client, release) => {
      if (!client) return refuse(explained(error));
      if (work.cancelled) {
        release();
        return refuse(work.cancelled);
      }
      work.clients.add(client);
      (client as Backend).work = work;
      (client as Backend).onCommit = over;
      const giveBack: Release = (reason) => {
        work.clients.delete(client);
        (client as Backend).work = undefined;
        (client as Backend).onCommit = undefined;
        // A connection that is being ended must not serve another request.
        release(reason ?? work.cancelled);
        over();
      };
      // query() of the pool calls the client's own.
      client.release = giveBack;
      onConnection(undefined, client, giveBack);
    });
  }
}

const nothing = (): void => undefined;

const explained = (error: Error | undefined): ConnectionError | undefined => error && new ConnectionError(error);

function noConnection(error: unknown): never {
  throw new ConnectionError(error);
}

/** The pool of a data source that is connected. */
export const poolOf = (database: DataSource): CancellablePool =>
  (database.driver as unknown as { master: CancellablePool }).master;

/** Whether a data source has such a pool, as the service's own has; an application may have others. */
export const hasOwnPool = (database: DataSource): boolean => poolOf(database) instanceof CancellablePool;

/**
 * Ends connections with all that runs on them: the server stops their statements and rolls their transactions back. Nobody
 * waits for that any more, so a failure here is for `onFailure` alone.
 */
export async function endBackends(
  clients: PoolClient[],
  databaseUrl: string,
  onFailure: (error: unknown) => void,
): Promise<void> {
  const backends = clients as Backend[];
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
