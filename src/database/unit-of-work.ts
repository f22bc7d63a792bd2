import { AsyncLocalStorage } from 'node:async_hooks';
import type { EventEmitter } from 'node:events';
import type { PoolClient } from 'pg';
import type { DataSource } from 'typeorm';
import type { Expectation } from './expectation';
import type { Frame } from './frame';
import type { SharedTransaction } from './shared-transaction';
import type { Writer } from './writer';

/** Where a flow of asynchronous work stands. */
interface Place {
  unit: UnitOfWork;
  /** The transaction of the unit that the flow is inside of, as far as it has begun one. */
  frame?: Frame;
}

/** The request behind the work: what is asked of it here is there in Express's. */
export interface Origin {
  readonly id: string;
  /** The client's address. */
  readonly ip?: string;
  /** Nobody before the request is let in. */
  readonly user?: Writer;
  readonly res?: EventEmitter & { readonly closed: boolean };
}

/** Why a signal is aborted: without one Node makes an error for each. */
const OVER = 'The request is over';

/** What one request does in the database. */
export class UnitOfWork {
  /** The transaction that all of it belongs to; without one, each statement or transaction stands for itself. */
  transaction?: SharedTransaction;
  /** Milliseconds that each of its statements may take, 0 for any time; as long as a request may when left out. */
  statementLimit?: number;
  /** Those that run. */
  private static running = 0;
  private readonly clients = new Set<PoolClient>();
  private error?: Error;
  private expectationIsTaken = false;
  private writerIsHeld = false;
  private abandonment?: AbortController;
  private listeners: (() => void)[] = [];

  /** @param expectation of the row that it is about to change */
  constructor(
    private readonly expectation: () => Expectation | undefined = () => undefined,
    readonly origin?: Origin,
  ) {}

  /**
   * Runs `work` so that {@link UnitOfWork.current} finds this unit in everything that it starts. Node follows each promise
   * of the process while there is a unit, a seventh of what a simple read costs: hence not when there is none.
   */
  async run<T>(work: () => T | Promise<T>): Promise<T> {
    UnitOfWork.running++;
    try {
      const here = storage.getStore();
      return await storage.run(here?.unit === this ? { ...here } : { unit: this }, work);
    } finally {
      if (--UnitOfWork.running === 0) storage.disable();
    }
  }

  /** Runs `work` as if no unit were there: for what is done for several of them. */
  static outside<T>(work: () => T): T {
    return storage.getStore() ? storage.run(undefined, work) : work();
  }

  static current(): UnitOfWork | undefined {
    return storage.getStore()?.unit;
  }

  /** The transaction that the current flow has begun last. It may have ended. */
  static currentFrame(): Frame | undefined {
    return storage.getStore()?.frame;
  }

  /** From here on the current flow, and all that it starts, is inside of this transaction. */
  static enter(frame: Frame): void {
    const place = storage.getStore();
    if (place) storage.enterWith({ ...place, frame });
  }

  /** Runs `work` so that what it enters is not entered by its caller, which may start others beside it. */
  static apart<T>(work: () => T): T {
    // Of the very same place Node wouldn't tell them apart.
    return storage.run({ ...storage.getStore()! }, work);
  }

  /** What the caller expects of the row that is written first, which is the one it asked to change; others are free. */
  takeExpectation(): Expectation | undefined {
    if (this.expectationIsTaken) return undefined;
    this.expectationIsTaken = true;
    return this.expectation();
  }

  /** The same for who looks at the row before: whoever writes it compares it once more. */
  peekExpectation(): Expectation | undefined {
    return this.expectationIsTaken ? undefined : this.expectation();
  }

  /** Whether the caller expects something of a row, and none was compared with that yet. */
  get expects(): boolean {
    return this.peekExpectation() !== undefined;
  }

  /** On whose behalf it writes: looked at before each commit, unless it is held. */
  get writer(): Writer | undefined {
    return this.writerIsHeld ? undefined : this.origin?.user;
  }

  /** The writer was looked at, and its rows are locked until the commit: only this unit itself still changes them. */
  holdWriter(): void {
    this.writerIsHeld = true;
  }

  /** Why it was called off; undefined while it goes on. */
  get cancelled(): Error | undefined {
    return this.error;
  }

  /** Aborted when it was called off, answered, or its client has gone: what of it has not begun need not begin. */
  get signal(): AbortSignal {
    if (!this.abandonment) {
      this.abandonment = new AbortController();
      const { res } = this.origin ?? {};
      if (this.error || res?.closed) this.abandonment.abort(OVER);
      else res?.once('close', () => this.abandonment!.abort(OVER));
    }
    return this.abandonment.signal;
  }

  /** Ends it: no statement of it runs on or starts from now on. Returns the connections that it held. */
  cancel(reason: Error): PoolClient[] {
    this.error = reason;
    this.abandonment?.abort(OVER);
    this.transaction?.abandon(reason);
    return [...this.clients];
  }

  /** For what waits for the commit of {@link transaction}. */
  onCommit(listener: () => void): void {
    this.listeners.push(listener);
  }

  takeListeners(): (() => void)[] {
    return this.listeners.splice(0);
  }

  hold(client: PoolClient): void {
    this.clients.add(client);
  }

  release(client: PoolClient): void {
    this.clients.delete(client);
  }
}

const storage = new AsyncLocalStorage<Place | undefined>();

/** The transaction that all is part of which the current unit of work does in this database; not in another's. */
export function transactionOf(database: DataSource): SharedTransaction | undefined {
  const transaction = UnitOfWork.current()?.transaction;
  return transaction?.database === database ? transaction : undefined;
}

/**
 * Runs what belongs to no request, such as a job of a queue: its statements aren't limited by a request's time.
 * @param limit milliseconds for each statement, 0 for any time
 */
export function inBackground<T>(work: () => T | Promise<T>, limit = 0): Promise<T> {
  const unit = new UnitOfWork();
  unit.statementLimit = limit;
  return unit.run(work);
}
