import type { PoolClient } from 'pg';
import { TransactionNotStartedError } from 'typeorm';
import type { IsolationLevel } from 'typeorm/driver/types/IsolationLevel';
import { settle, type Outcome, type OwnTransaction, type Waiter } from './after-commit';
import { AuditedRunner } from './audited-runner';
import { hasOwnPool } from './cancellable-pool';
import { statusAfterAll } from './clean-pool';
import { leavesMore, nameOfStatement } from './statement-kinds';
import { Refusal } from './transaction-refusals';
import { UnitOfWork } from './unit-of-work';

/** PostgreSQL's transaction states: in a transaction, and in a failed one. */
const ACTIVE = 'T';
const FAILED = 'E';

/** What TypeORM sends at the beginning and end of a nested transaction. */
const NESTED = /^(SAVEPOINT|RELEASE SAVEPOINT|ROLLBACK TO SAVEPOINT) typeorm_(\d+)$/;
const BESIDE = 'a transaction beside it';

/**
 * TypeORM's query runner, which refuses to commit what it can't tell apart. PostgreSQL's savepoints are a stack, and TypeORM names
 * them by their depth: what is written beside a nested transaction is undone with it, and of two nested transactions beside each
 * other each one's end is that of the other.
 */
export class OwnRunner extends AuditedRunner {
  /** The runner's transactions on its own connection, the innermost last. */
  private readonly own: OwnTransaction[] = [];
  /** The number of savepoints of the nested ones, as PostgreSQL sees it at the next statement. */
  private savepoints = 0;
  /** The depth at which a savepoint is made or ended, until TypeORM has counted that. */
  private uncounted?: number;
  /** The reason why what remains must not be committed. */
  private failure?: Error;

  override query<T>(query: string, parameters: unknown[] | undefined, useStructuredResult: true): Promise<T>;
  override query<T>(query: string, parameters?: unknown[], useStructuredResult?: boolean): Promise<T>;
  override query(query: string, parameters?: unknown[], useStructuredResult = false): Promise<unknown> {
    if (this.own.length < 2) return super.query(query, parameters, useStructuredResult);
    const run = () => super.query(query, parameters, useStructuredResult);
    // Connections of another pool don't tell when it is sent.
    if (!hasOwnPool(this.dataSource)) this.noteSent(query);
    return NESTED.test(query) ? this.runUncounted(run) : run();
  }

  override noteSent(text: string): void {
    if (this.own.length < 2) return;
    this.noteStatement(text);
    const [, command, number] = NESTED.exec(text) ?? [];
    if (command) this.savepoints = Number(number) - (command === 'SAVEPOINT' ? 0 : 1);
  }

  /** Not async, so that the caller's flow enters the transaction. */
  override startTransaction(isolation?: IsolationLevel): Promise<void> {
    return this.beginOwn(() => super.startTransaction(isolation));
  }

  override commitTransaction(): Promise<void> {
    return this.endOwn('Commit', async () => {
      if (this.failure) throw this.failure;
      if (this.endedBy(UnitOfWork.own())?.left === 'Rollback') throw Refusal.left();
      if (this.transactionDepth === 1 && (await this.hasFailed())) throw Refusal.failed();
      await super.commitTransaction();
    });
  }

  override rollbackTransaction(): Promise<void> {
    return this.endOwn('Rollback', () => super.rollbackTransaction());
  }

  override async release(): Promise<void> {
    await super.release();
    for (let last = this.own.at(-1); last; last = this.own.at(-1)) {
      await settle(this.leave(last, 'Rollback'), 'Rollback');
    }
  }

  protected get hasNested(): boolean {
    return this.own.length > 1;
  }

  protected get isInOpen(): boolean {
    return (this.databaseConnection as PoolClient | undefined)?.getTransactionStatus() === ACTIVE;
  }

  private async hasFailed(): Promise<boolean> {
    const client = this.databaseConnection as PoolClient | undefined;
    return client !== undefined && (await statusAfterAll(client)) === FAILED;
  }

  private async beginOwn(begin: () => Promise<void>): Promise<void> {
    const own = UnitOfWork.begin(this);
    this.own.push(own);
    try {
      await begin();
    } catch (error) {
      if (this.transactionDepth < this.own.length) await settle(this.leave(own, 'Rollback'), 'Rollback');
      throw error;
    }
  }

  private async endOwn(outcome: Outcome, end: () => Promise<void>): Promise<void> {
    // TypeORM rolls back what it couldn't begin. That would be the transaction around it.
    if (this.own.at(-1)?.isApart && UnitOfWork.hasEnded(this)) throw new TransactionNotStartedError();
    const flow = UnitOfWork.own();
    const ended = this.endedBy(flow);
    const { transactionDepth } = this;
    let waiters: Waiter[] = [];
    try {
      await end();
    } finally {
      // A subscriber may fail after the end of the transaction.
      const hasEnded = this.transactionDepth < transactionDepth;
      if (flow) flow.hasEndedOther = hasEnded && flow !== ended;
      if (ended && hasEnded) {
        this.noteEnd(ended, outcome);
        waiters = this.leave(ended, outcome);
      }
      await settle(waiters, outcome);
    }
  }

  /** TypeORM counts savepoints when they are made or ended: before that, the next one would get the same name. */
  private async runUncounted(run: () => Promise<unknown>): Promise<unknown> {
    const { transactionDepth } = this;
    if (this.uncounted === transactionDepth) this.failure ??= Refusal.atOnce();
    this.uncounted = transactionDepth;
    try {
      return await run();
    } catch (error) {
      this.uncounted = undefined;
      throw error;
    }
  }

  /** The transaction that a flow ends: its own, or the innermost one if other functions may have begun that by hand. */
  private endedBy(flow: OwnTransaction | undefined): OwnTransaction | undefined {
    const last = this.own.at(-1);
    return (last?.isApart && !last.left ? this.innermostOf(flow) : undefined) ?? last;
  }

  /** PostgreSQL has ended the innermost savepoint, whichever transaction was meant. */
  private noteEnd(ended: OwnTransaction, outcome: Outcome): void {
    if (outcome === 'Commit') return this.noteBeside(ended, BESIDE, this.own);
    const { strange = ended === this.own.at(-1) ? undefined : BESIDE } = ended;
    if (strange) this.failure ??= Refusal.undoneBeside(strange);
    if (ended.left === 'Commit') this.failure ??= Refusal.left();
  }

  /** Returns the waiters to call, unless the transaction around it decides. */
  private leave(own: OwnTransaction, outcome: Outcome): Waiter[] {
    const index = this.own.indexOf(own);
    if (index < 0) return [];
    this.own.splice(index, 1);
    UnitOfWork.end(own);
    if (this.own.length === 0) this.startAnew();
    // One that ends before those within it is not over before them.
    const around = (this.own[index - 1] ?? this.own[0]) as OwnTransaction | undefined;
    if (!around || outcome === 'Rollback') return own.waiters;
    around.waiters.push(...own.waiters.splice(0));
    return [];
  }

  private startAnew(): void {
    this.failure = undefined;
    this.uncounted = undefined;
    this.savepoints = 0;
  }

  private innermostOf(own: OwnTransaction | undefined): OwnTransaction | undefined {
    while (own && !this.own.includes(own)) own = own.around;
    return own;
  }

  private noteStatement(query: string): void {
    const flow = this.innermostOf(UnitOfWork.own());
    if (flow && flow !== this.own.at(-1) && leavesMore(query)) {
      this.noteBeside(flow, nameOfStatement(query), this.own.slice(0, this.savepoints + 1));
    }
  }

  /** What a transaction has written would be undone with each one of the others that it isn't known to be in. */
  private noteBeside(writer: OwnTransaction, written: string, [, ...nested]: readonly OwnTransaction[]): void {
    if (!this.own.includes(writer)) return;
    for (const own of nested) if (own.isApart && !writer.isWithin(own)) own.strange ??= written;
  }
}
