import type { PoolClient } from 'pg';
import type { DataSource } from 'typeorm';
import { OwnTransaction, type Waiter } from './after-commit';
import type { Frame } from './frame';
import type { Origin } from './origin';
import { at, currentOrigin, follow, storage, unfollow } from './place';
import type { Precondition } from './precondition';
import type { SharedTransaction } from './shared-transaction';
import { Refusal } from './transaction-refusals';
import { isWriter, type Writer } from './writer';

/** The reason for aborting a signal: without one Node creates an error each time. */
const OVER = 'The request is over';

/** Runs a handler, or something instead of it. */
export type AroundHandler = (handler: () => unknown) => unknown;

/** The database work of one request. */
export class UnitOfWork {
  /** The transaction of the whole unit. Without it, each statement or transaction is independent. */
  transaction?: SharedTransaction;
  /** The time limit of each statement in milliseconds; 0 for none. Default: that of requests */
  statementLimit?: number;
  /** True if something was committed, or may be soon. Before that, cancelling the unit undoes it. */
  mayBeCommitted = false;
  /** What the handler of the request runs in. Undefined if it just runs. */
  aroundHandler?: AroundHandler;
  /** True if it has waited long for a turn. What the guards have decided may be out of date then. */
  waitedLong = false;
  /** The connections that the unit holds. */
  readonly clients = new Set<PoolClient>();
  /** The connections of statements that other units share. Undefined if there was none. */
  shared?: Set<PoolClient>;
  private error?: Error;
  private knownPrecondition?: Precondition;
  private writerIsHeld = false;
  private abandonment?: AbortController;
  /** Transactions that may have been begun in another flow than they are used in. */
  private readonly begunByHand = new Set<OwnTransaction>();

  /** @param readPrecondition reads the precondition of the request */
  constructor(
    private readonly readPrecondition: () => Precondition | undefined = () => undefined,
    readonly origin?: Origin,
  ) {}

  /**
   * Runs `work` so that {@link UnitOfWork.current} returns this unit in everything that `work` starts. While a unit
   * runs, Node follows each promise of the process, which is a seventh of the cost of a simple read. So reads run
   * without a unit.
   */
  run<T>(work: () => T | Promise<T>): Promise<T> {
    const here = storage.getStore();
    return at(here?.unit === this ? { ...here } : { unit: this }, work);
  }

  /** Runs `work` without a unit, for work on behalf of several units. */
  static outside<T>(work: () => T): T {
    return storage.getStore() ? storage.run(undefined, work) : work();
  }

  /** Runs `work` without a unit, so that nothing cancels it, for the request of the current one. */
  static detached<T>(work: () => Promise<T>): Promise<T> {
    const origin = currentOrigin();
    return origin ? at({ origin }, work) : UnitOfWork.outside(work);
  }

  static current(): UnitOfWork | undefined {
    return storage.getStore()?.unit as UnitOfWork | undefined;
  }

  /** The transaction that the current flow has begun last. It may have ended. */
  static currentFrame(): Frame | undefined {
    return storage.getStore()?.frame;
  }

  /** Makes the current flow, and everything that it starts, part of this transaction. */
  static enter(frame: Frame): void {
    const place = storage.getStore();
    if (place) storage.enterWith({ ...place, frame, apart: false });
  }

  /** Makes the current flow part of a new transaction of a query runner on its own connection. */
  static begin(runner: object): OwnTransaction {
    const place = storage.getStore();
    const own = new OwnTransaction(runner, place?.own?.orAround, place?.apart ?? false);
    if (!own.isApart) UnitOfWork.current()?.begunByHand.add(own);
    else place!.begun = own;
    follow();
    storage.enterWith({ ...place, own, apart: false, begun: undefined });
    return own;
  }

  /** The innermost open transaction on its own connection that the current flow is in. */
  static own(): OwnTransaction | undefined {
    return storage.getStore()?.own?.orAround;
  }

  /** True if the current flow alone uses a transaction of this query runner, and that has ended. */
  static hasEnded(runner: object): boolean {
    const own = storage.getStore()?.own;
    return own !== undefined && own.isApart && own.runner === runner && !own.open;
  }

  /** Runs `work`, the only thing that belongs to the transaction of a single statement. */
  static alone<T>(runner: object, work: () => Promise<T>): Promise<T> {
    return at({ ...storage.getStore(), alone: runner }, work);
  }

  /** True if the current flow is known not to be that of {@link alone}. */
  static isBesideAlone(runner: object): boolean {
    const place = storage.getStore();
    return place !== undefined && place.alone !== runner;
  }

  static end(own: OwnTransaction): void {
    own.open = false;
    UnitOfWork.current()?.begunByHand.delete(own);
    unfollow();
  }

  /** The waiters for the end of the innermost transaction of the current flow. */
  static waiters(): Waiter[] | undefined {
    const unit = UnitOfWork.current();
    const own = storage.getStore()?.own;
    const waiters = unit?.transaction?.waiters ?? own?.orAround?.waiters;
    if (!waiters && unit && [...unit.begunByHand].some(({ open }) => open)) throw Refusal.whichCommit();
    return waiters;
  }

  /** The precondition of the request. It is always the same object. */
  get precondition(): Precondition | undefined {
    // Read again while there is none: a middleware may still turn a POST into a PATCH.
    return (this.knownPrecondition ??= this.readPrecondition());
  }

  /**
   * The precondition for writers that were passed none, until it is compared with a row. The row that is written first
   * is taken for the subject of the request. Later rows are written unconditionally.
   */
  get pendingPrecondition(): Precondition | undefined {
    const { precondition } = this;
    return precondition?.isTaken ? undefined : precondition;
  }

  /** The user on whose behalf the unit writes, who is checked before each commit, unless the rows are locked. */
  get writer(): Writer | undefined {
    const { user } = this.origin ?? {};
    return !this.writerIsHeld && isWriter(user) ? user : undefined;
  }

  /**
   * Called when the writer was checked and its rows are locked until the commit: only this unit can change them now.
   */
  holdWriter(): void {
    this.writerIsHeld = true;
  }

  /** The reason why the unit was cancelled; undefined while it continues. */
  get cancelled(): Error | undefined {
    return this.error;
  }

  /** Whether nobody waits for it any more: what {@link signal} tells, without making one. */
  get isOver(): boolean {
    return this.error !== undefined || this.origin?.res?.closed === true;
  }

  /** Aborted when it was called off, answered, or its client has gone: what of it has not begun need not begin. */
  get signal(): AbortSignal {
    if (!this.abandonment) {
      this.abandonment = new AbortController();
      const { res } = this.origin ?? {};
      if (this.isOver) this.abandonment.abort(OVER);
      else res?.once('close', () => this.abandonment!.abort(OVER));
    }
    return this.abandonment.signal;
  }

  /** Cancels the unit: its statements end, and no new one starts. Returns the connections that it held. */
  cancel(reason: Error): PoolClient[] {
    this.error = reason;
    this.abandonment?.abort(OVER);
    this.transaction?.abandon(reason);
    return [...this.clients];
  }
}

/** The transaction of the current unit of work, if it is one on this database. */
export function transactionOf(database: DataSource): SharedTransaction | undefined {
  const transaction = UnitOfWork.current()?.transaction;
  return transaction?.database === database ? transaction : undefined;
}
