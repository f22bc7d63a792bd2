import type { PoolClient } from 'pg';
import { PostgresQueryRunner } from 'typeorm/driver/postgres/PostgresQueryRunner';
import type { IsolationLevel } from 'typeorm/driver/types/IsolationLevel';
import { settle, type Outcome, type OwnTransaction } from './after-commit';
import { statusAfterAll } from './clean-pool';
import type { Frame } from './frame';
import type { SharedTransaction } from './shared-transaction';
import { Refusal } from './transaction-refusals';
import { transactionOf, UnitOfWork } from './unit-of-work';

/** PostgreSQL's signs for a transaction that goes on, and for one in which a statement has failed. */
const ACTIVE = 'T';
const FAILED = 'E';

/**
 * TypeORM's, with two differences. Made in a unit of work that is one transaction, it takes part in that, and behaves as if
 * it had a connection of its own. And it tells of two mistakes by which what was written is lost without a word.
 */
export class ApiQueryRunner extends PostgresQueryRunner {
  private readonly shared = transactionOf(this.dataSource);
  /** Its transactions in the shared one, the innermost last. */
  private readonly frames: Frame[] = [];
  /** Its transactions on a connection of its own, the same way. */
  private readonly own: OwnTransaction[] = [];

  override connect(): Promise<unknown> {
    return this.shared ? this.connectTo(this.shared) : super.connect();
  }

  /** Not async: what follows in the flow of its caller is to be inside of the transaction. */
  override startTransaction(isolation?: IsolationLevel): Promise<void> {
    const { shared } = this;
    if (!shared) return this.beginOwn(() => super.startTransaction(isolation));
    if (this.hasLeft(shared)) return this.beginOwn(() => this.connect().then(() => super.startTransaction(isolation)));
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
    if (this.transactionDepth === 1 && (await this.hasFailed())) throw Refusal.failed();
    return this.endOwn('Commit', () => super.commitTransaction());
  }

  override async rollbackTransaction(): Promise<void> {
    const frame = this.frameOfFlow;
    if (!frame) return this.endOwn('Rollback', () => super.rollbackTransaction());
    return this.end('Rollback', frame, () => this.shared!.rollback(frame).finally(() => this.forget(frame)));
  }

  /** A connection inside of a transaction is not for others: the pool ends it. */
  override async release(): Promise<void> {
    const open = this.frames.length > 0 || this.status === ACTIVE;
    const unfinished = open && !this.isReleased && !UnitOfWork.current()?.cancelled;
    while (this.frames.length > 0) await this.rollbackTransaction().catch(() => undefined);
    await super.release();
    while (this.own.length > 0) await this.leaveOwn('Rollback');
    if (unfinished) throw Refusal.unfinished();
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    while (this.frames.length > 0) await this.commitTransaction();
    await super[Symbol.asyncDispose]();
  }

  private get status(): string | null | undefined {
    return (this.databaseConnection as PoolClient | undefined)?.getTransactionStatus();
  }

  private async hasFailed(): Promise<boolean> {
    const client = this.databaseConnection as PoolClient | undefined;
    return client !== undefined && (await statusAfterAll(client)) === FAILED;
  }

  /** Its transaction that the current flow is inside of; that begun last when it is inside of none. */
  private get frameOfFlow(): Frame | undefined {
    let frame = UnitOfWork.currentFrame();
    while (frame && !this.frames.includes(frame)) frame = frame.parent;
    return frame ?? this.frames.at(-1);
  }

  /** Whether it has asked for a connection of its own. */
  private get stands(): boolean {
    return (this.databaseConnectionPromise as Promise<unknown> | undefined) !== undefined;
  }

  /** Whether it is to have a connection of its own. */
  private hasLeft(shared: SharedTransaction): boolean {
    return this.stands || (shared.isClosed && this.frames.length === 0);
  }

  private async connectTo(shared: SharedTransaction): Promise<unknown> {
    if (!this.hasLeft(shared)) return this.partOf(shared);
    // It sees what the shared one has done.
    if (!this.stands) await shared.over;
    return super.connect();
  }

  /** What looks like a connection of its own. */
  private partOf(shared: SharedTransaction): object {
    const run = async (text: string, values?: unknown[]) => {
      if (!this.hasLeft(shared)) return shared.query(this, this.frameOfFlow, text, values);
      return ((await this.connectTo(shared)) as PoolClient).query(text, values);
    };
    // Not async: of a stream or a cursor nobody awaits a promise, and one that is rejected then ends the process.
    const query = (text: unknown, values?: unknown, callback?: unknown) => {
      if (typeof text !== 'string' || typeof values === 'function' || callback) throw Refusal.noText();
      return run(text, values as unknown[] | undefined);
    };
    return new Proxy({ query }, { get: (part, name) => memberOf(part, name) });
  }

  private async beginOwn(begin: () => Promise<void>): Promise<void> {
    this.own.push(UnitOfWork.begin());
    try {
      await begin();
    } catch (error) {
      if (this.transactionDepth < this.own.length) await this.leaveOwn('Rollback');
      throw error;
    }
  }

  private async endOwn(outcome: Outcome, end: () => Promise<void>): Promise<void> {
    const { transactionDepth } = this;
    try {
      await end();
    } finally {
      // A subscriber may fail after the end.
      if (this.transactionDepth < transactionDepth) await this.leaveOwn(outcome);
    }
  }

  private async leaveOwn(outcome: Outcome): Promise<void> {
    const own = this.own.pop();
    if (!own) return;
    UnitOfWork.end(own);
    const around = this.own.at(-1);
    if (around && outcome === 'Commit') around.waiters.push(...own.waiters.splice(0));
    else await settle(own.waiters, outcome);
  }

  private async begin(shared: SharedTransaction, frame: Frame): Promise<void> {
    // At once, as the shared one may end.
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
    // Subscribers take it for a commit, which is yet to come.
    if (outcome === 'Commit' && isWhole) frame.parent!.orParent.waiters.push((known) => this.tell(known));
    else await this.broadcaster.broadcast(`AfterTransaction${outcome}`);
  }

  /** Tells subscribers how the shared one has ended. They may use it as ever, although it was released meanwhile. */
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
    // Around them is the shared one.
    this.transactionDepth = this.frames.length > 0 ? this.frames.length + 1 : 0;
    this.isTransactionActive = this.frames.length > 0;
  }
}

/** `then` is asked for by who awaits it, and symbols by who prints it. */
function memberOf(part: object, name: string | symbol): unknown {
  if (typeof name === 'string' && name !== 'then' && !(name in part)) throw Refusal.noConnection(`${name}()`);
  return Reflect.get(part, name);
}
