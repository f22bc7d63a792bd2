import { setTimeout as sleep } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import type { PoolClient, PoolConfig, QueryConfig, QueryResult, QueryResultRow } from 'pg';
import type { DataSource } from 'typeorm';
import type { QueueKey } from '../limits/fair-queue';
import { Tally } from '../limits/tally';
import type { OnConnection } from './clean-pool';
import { ConnectionError } from './connection-error';
import { LimitedPool } from './limited-pool';
import { type LentClient, observeCommits } from './observed-commits';
import type { ConnectionScheduler } from './connection-scheduler';
import { UnitOfWork } from './unit-of-work';

/** How long closing the pool waits for lent connections, in milliseconds. All requests have ended by then. */
const PATIENCE = 5_000;

const logger = new Logger('Database');

type Release = (error?: Error | boolean) => void;

/** The additional properties of a pool's client. */
export interface Backend extends LentClient {
  processID: number;
  end(): Promise<void>;
  /** When the client's shared read began, by the clock of `performance`. */
  sharedSince?: number;
}

/**
 * The driver's pool, with two additions. It knows which connections the current {@link UnitOfWork} holds, and which run
 * shared reads, so that {@link endBackends} can end them: TypeORM can't abandon a running statement or its transaction.
 * And every failure to connect becomes a {@link ConnectionError}, because some SQLSTATEs, e.g. 55000, have another
 * meaning later.
 */
export class CancellablePool extends LimitedPool {
  private readonly backends = new Set<Backend>();
  /** True while a shared read requests a connection. */
  private sharing = false;
  /** The unit of work that requests a connection, if it isn't the current one. */
  private connecting?: UnitOfWork;
  /** Decides when a unit of work gets a connection. Default: at once */
  turns?: ConnectionScheduler;
  /** Counts the permits of each neighbourhood to hold a connection: those of writes together with those of lists. */
  readonly permits = new Tally<QueueKey>();

  /** @param options `names: false` for statements that may go through a pooler in a way that doesn't know of it */
  constructor(options?: PoolConfig & { names?: boolean }) {
    super(options);
    this.on('connect', (client) => {
      (client as Backend).names = options?.names ?? true;
      observeCommits(client);
      this.backends.add(client as Backend);
    });
    this.on('remove', (client) => this.backends.delete(client as Backend));
    this.on('release', (_error, client) => {
      (client as Backend).sharedSince = undefined;
      // What was to go with a next statement belongs to a transaction that has ended.
      (client as Backend).ahead = undefined;
    });
  }

  /** @param connect requests a connection, for the unit, before it returns */
  connectingFor<T>(unit: UnitOfWork, connect: () => T): T {
    this.connecting = unit;
    try {
      return connect();
    } finally {
      this.connecting = undefined;
    }
  }

  /** Runs a read that several requests may wait for. */
  queryShared<R extends QueryResultRow>(statement: QueryConfig): Promise<QueryResult<R>> {
    this.sharing = true;
    try {
      return this.query<R>(statement);
    } finally {
      this.sharing = false;
    }
  }

  /** Lends a connection for the work of several requests. It is ended when nobody waits for it any more, like a shared read. */
  lendShared(): Promise<PoolClient> {
    this.sharing = true;
    try {
      return new Promise((resolve, reject) => {
        this.connect((error, client) => (client ? resolve(client) : reject(error!)));
      });
    } finally {
      this.sharing = false;
    }
  }

  /** True if shared reads are running, or may be. */
  get sharesReads(): boolean {
    return this.waitingCount > 0 || this.sharedBefore(Infinity).length > 0;
  }

  /** The connections whose shared reads began before a moment, by the clock of `performance`. */
  sharedBefore(moment: number): Backend[] {
    return [...this.backends].filter(({ sharedSince = Infinity }) => sharedSince < moment);
  }

  override connect(): Promise<PoolClient>;
  override connect(onConnection: OnConnection): void;
  override connect(onConnection?: OnConnection): Promise<PoolClient> | void {
    // TypeORM always passes a callback. Callers that await a promise are outside of any request.
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

  /** Waits for lent connections for a moment only: a forgotten one would keep the process from ending. */
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
    for (const backend of this.backends) void backend.end();
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

  /** @param over called at the commit, when the connection is given back, or if there is none */
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
      // The pool's query() calls the client's own release().
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

/** The pool of a connected data source. */
export const poolOf = (database: DataSource): CancellablePool =>
  (database.driver as unknown as { master: CancellablePool }).master;

/** True if a data source has this pool. An application may have other data sources. */
export const hasOwnPool = (database: DataSource): boolean => poolOf(database) instanceof CancellablePool;
