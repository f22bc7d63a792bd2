import { AsyncLocalStorage } from 'node:async_hooks';
import type { PoolClient } from 'pg';
import type { DataSource } from 'typeorm';
import { OwnTransaction, type Waiter } from './after-commit';
import type { Frame } from './frame';
import type { Origin } from './origin';
import type { Precondition } from './precondition';
import type { SharedTransaction } from './shared-transaction';
import { Refusal } from './transaction-refusals';
import { isWriter, type Writer } from './writer';

/** Where a flow of asynchronous work stands. */
interface Place {
  /** None in a job, or while the service starts. */
  unit?: UnitOfWork;
  /** The transaction of the unit that the flow is inside of, as far as it has begun one. */
  frame?: Frame;
  /** The same of those that have a connection of their own. */
  own?: OwnTransaction;
  /** Whether all that is done in the transaction that begins next is in the flow of it. */
  apart?: boolean;
}

/** Why a signal is aborted: without one Node makes an error for each. */
export const OVER = 'The request is over';

/** What one request does in the database. */
export class UnitOfWork {
  /** The transaction that all of it belongs to; without one, each statement or transaction stands for itself. */
  transaction?: SharedTransaction;
  /** Milliseconds that each of its statements may take, 0 for any time; as long as a request may when left out. */
  statementLimit?: number;
  /** Whether something of it is committed, or about to be. Until then, to call it off is to undo it. */
  mayBeCommitted = false;
  /** How many units run, or transactions are open: without any, Node needn't follow the flows of the process. */
  private static running = 0;
  /** The connections that it holds. */
  readonly clients = new Set<PoolClient>();
  private error?: Error;
  private knownPrecondition?: Precondition;
  private writerIsHeld = false;
  private abandonment?: AbortController;
  /** Its transactions that may have been begun in another flow than they are used in. */
  private readonly begunByHand = new Set<OwnTransaction>();

  /** @param readPrecondition tells what is demanded of the row that it is about to change */
  constructor(
    private readonly readPrecondition: () => Precondition | undefined = () => undefined,
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
      UnitOfWork.leave();
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
  static async apart<T>(work: () => Promise<T>): Promise<T> {
    UnitOfWork.running++;
    try {
      // Of the very same place Node wouldn't tell them apart.
      return await storage.run({ ...storage.getStore(), apart: true }, work);
    } finally {
      UnitOfWork.leave();
    }
  }

  /** From here on the current flow is inside of a transaction that has a connection of its own. */
  static begin(): OwnTransaction {
    const place = storage.getStore();
    const own = new OwnTransaction(place?.own?.orAround);
    if (!place?.apart) place?.unit?.begunByHand.add(own);
    UnitOfWork.running++;
    storage.enterWith({ ...place, own, apart: false });
    return own;
  }

  static end(own: OwnTransaction): void {
    own.open = false;
    UnitOfWork.current()?.begunByHand.delete(own);
    UnitOfWork.leave();
  }

  /** Those who wait for the end of the innermost transaction that the current flow is inside of. */
  static waiters(): Waiter[] | undefined {
    const { unit, own } = storage.getStore() ?? {};
    const waiters = unit?.transaction?.waiters ?? own?.orAround?.waiters;
    if (!waiters && unit && [...unit.begunByHand].some(({ open }) => open)) throw Refusal.whichCommit();
    return waiters;
  }

  private static leave(): void {
    if (--UnitOfWork.running === 0) storage.disable();
  }

  /** What the caller demands of the row that it asked to change: one object, whoever asks. */
  get precondition(): Precondition | undefined {
    // Read again where there was none: a middleware may still make a PATCH of a POST.
    return (this.knownPrecondition ??= this.readPrecondition());
  }

  /**
   * The same for writers that weren't passed it, until a row is compared with it. The row that is written first is taken for
   * the one that the caller asked to change; others are free.
   */
  get pendingPrecondition(): Precondition | undefined {
    const { precondition } = this;
    return precondition?.isTaken ? undefined : precondition;
  }

  /** On whose behalf it writes: looked at before each commit, unless it is held. */
  get writer(): Writer | undefined {
    const { user } = this.origin ?? {};
    return !this.writerIsHeld && isWriter(user) ? user : undefined;
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
}

const storage = new AsyncLocalStorage<Place | undefined>();

/** The transaction that all is part of which the current unit of work does in this database; not in another's. */
export function transactionOf(database: DataSource): SharedTransaction | undefined {
  const transaction = UnitOfWork.current()?.transaction;
  return transaction?.database === database ? transaction : undefined;
}
