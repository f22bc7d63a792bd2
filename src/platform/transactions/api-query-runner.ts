import type { PoolClient } from 'pg';
import type { IsolationLevel } from 'typeorm/driver/types/IsolationLevel';
import { settle, type Outcome } from './after-commit';
import type { Frame } from './frame';
import { OwnRunner } from './own-runner';
import { unlessReleased } from './released-runner';
import { connectionOf } from './shared-connection';
import type { SharedTransaction } from './shared-transaction';
import { Refusal } from './transaction-refusals';
import { transactionOf, UnitOfWork } from './unit-of-work';

/**
 * TypeORM's query runner, with two differences. In a unit of work that is one transaction, it joins that transaction and behaves
 * like a runner with its own connection. And it reports two mistakes by which changes would be lost silently.
 */
export class ApiQueryRunner extends OwnRunner {
  private readonly shared = transactionOf(this.dataSource);
  /** The runner's transactions within the shared one, the innermost last. */
  private readonly frames: Frame[] = [];

  override connect(): Promise<unknown> {
    return this.shared ? this.connectTo(this.shared) : super.connect();
  }

  /** Not async, so that the caller's flow enters the transaction. */
  override startTransaction(isolation?: IsolationLevel): Promise<void> {
    return unlessReleased(this, () => this.start(isolation));
  }

  private start(isolation?: IsolationLevel): Promise<void> {
    const { shared } = this;
    if (!shared || this.hasLeft(shared)) return super.startTransaction(isolation);
    if (isolation && isolation !== shared.isolation) {
      return Promise.reject(Refusal.isolation(isolation, shared.isolation));
    }
    const frame = shared.newFrame(this, this.frameOfFlow);
    UnitOfWork.enter(frame);
    return this.begin(shared, frame);
  }

  override async commitTransaction(): Promise<void> {
    const frame = this.frameOfFlow;
    if (frame) return this.end('Commit', frame, () => this.shared!.commit(frame));
    return super.commitTransaction();
  }

  override async rollbackTransaction(): Promise<void> {
    const frame = this.frameOfFlow;
    if (!frame) return super.rollbackTransaction();
    return this.end('Rollback', frame, () => this.undo(frame));
  }

  /** A connection that is still in a transaction must not be reused: the pool ends it. */
  override async release(): Promise<void> {
    const open = this.frames.length > 0 || this.isInOpen;
    const unfinished = open && !this.isReleased && !UnitOfWork.current()?.cancelled;
    for (let frame = this.frames.at(-1); frame; frame = this.frames.at(-1)) {
      await this.rollbackTransaction().catch(() => undefined);
      // A subscriber may fail before the rollback.
      if (this.frames.includes(frame)) await this.undo(frame).catch(() => undefined);
    }
    await super.release();
    if (unfinished) throw Refusal.unfinished();
  }

  /** TypeORM would commit at once, and leave nested transactions out, whose listeners would be told of a rollback. */
  override async [Symbol.asyncDispose](): Promise<void> {
    try {
      while (this.frames.length > 0 || this.hasNested) await this.commitTransaction();
    } catch (error) {
      await this.release().catch(() => undefined);
      throw error;
    }
    await super[Symbol.asyncDispose]();
  }

  private undo(frame: Frame): Promise<void> {
    return this.shared!.rollback(frame).finally(() => this.forget(frame));
  }

  /** The runner's transaction that the current flow is in; otherwise the one begun last. */
  private get frameOfFlow(): Frame | undefined {
    let frame = UnitOfWork.currentFrame();
    while (frame && !this.frames.includes(frame)) frame = frame.parent;
    return frame ?? this.frames.at(-1);
  }

  /** True if the runner has requested its own connection. */
  private get stands(): boolean {
    return (this.databaseConnectionPromise as Promise<unknown> | undefined) !== undefined;
  }

  /** True if the runner must use its own connection. */
  private hasLeft(shared: SharedTransaction): boolean {
    return this.stands || (shared.isClosed && this.frames.length === 0);
  }

  private async connectTo(shared: SharedTransaction): Promise<unknown> {
    if (!this.hasLeft(shared)) return this.partOf(shared);
    // Its own connection must see what the shared transaction has done.
    if (!this.stands) await shared.over;
    return super.connect();
  }

  /** An object that looks like a connection and runs statements in the shared transaction. */
  private partOf(shared: SharedTransaction): object {
    const run = async (text: string, values?: unknown[]) => {
      if (!this.hasLeft(shared)) return shared.query(this, this.frameOfFlow, text, values);
      return ((await this.connectTo(shared)) as PoolClient).query(text, values);
    };
    return connectionOf(run);
  }

  private async begin(shared: SharedTransaction, frame: Frame): Promise<void> {
    // Without waiting before, because the shared transaction may end.
    await shared.begin(frame);
    this.frames.push(frame);
    this.count();
    await this.broadcaster.broadcast('BeforeTransactionStart');
    await this.broadcaster.broadcast('AfterTransactionStart');
  }

  private async end(outcome: Outcome, frame: Frame, work: () => Promise<void>): Promise<void> {
    await this.broadcaster.broadcast(`BeforeTransaction${outcome}`);
    const isWhole = !frame.isNested;
    await work();
    this.forget(frame);
    if (outcome === 'Rollback') await settle(frame.waiters, outcome);
    // Subscribers expect a commit, which happens later: they are told then.
    if (outcome === 'Commit' && isWhole) frame.parent!.orParent.waiters.push((known) => this.tell(known));
    else await this.broadcaster.broadcast(`AfterTransaction${outcome}`);
  }

  /** Tells subscribers how the shared transaction has ended. The runner is usable meanwhile, even if it was released. */
  private async tell(outcome: Outcome): Promise<void> {
    const reopened = this.isReleased && !this.stands;
    if (reopened) this.isReleased = false;
    try {
      await this.broadcaster.broadcast(`AfterTransaction${outcome}`);
    } finally {
      if (reopened) await super.release();
    }
  }

  private forget(frame: Frame): void {
    const index = this.frames.indexOf(frame);
    if (index >= 0) this.frames.splice(index, 1);
    this.count();
  }

  private count(): void {
    // The shared transaction counts as the outermost one.
    this.transactionDepth = this.frames.length > 0 ? this.frames.length + 1 : 0;
    this.isTransactionActive = this.frames.length > 0;
  }
}
