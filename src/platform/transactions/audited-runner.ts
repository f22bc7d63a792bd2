import type { PoolClient } from 'pg';
import { BEGIN, beginning, beginningWithContext } from './audit-context';
import { ReleasedError, ReleasedRunner } from './released-runner';
import { changesAudited } from './audited-tables';
import { sendAhead } from './observed-commits';
import { currentOrigin } from './place';
import { mayWrite } from './statement-kinds';
import { transactionOf, UnitOfWork } from './unit-of-work';

const IDLE = 'I';
const noop = (): void => undefined;

/**
 * TypeORM's query runner, whose writes tell the audit who makes them: a transaction tells it at its beginning, and a
 * single statement that changes audited rows becomes a transaction.
 */
export class AuditedRunner extends ReleasedRunner {
  /** True if a transaction of PostgreSQL's own isolation level begins in one message with its first statement. */
  beginsLate = false;
  /** True while the end of its transaction is under way. */
  private isEnding = false;
  /** The transaction of a single statement, while it is under way. */
  private alone?: Promise<unknown>;

  override query<T>(query: string, parameters: unknown[] | undefined, useStructuredResult: true): Promise<T>;
  override query<T>(query: string, parameters?: unknown[], useStructuredResult?: boolean): Promise<T>;
  override query(query: string, parameters?: unknown[], useStructuredResult = false): Promise<unknown> {
    const { aloneBeside } = this;
    // A read that joins loses nothing, and may be that of a subscriber.
    if (aloneBeside && mayWrite(query)) {
      return aloneBeside.then(() => this.query(query, parameters, useStructuredResult));
    }
    if (this.beginsLate && query === BEGIN) return this.beginLate();
    // It would run behind the end, and stand for itself.
    if (this.isEnding) return Promise.reject(new ReleasedError());
    const run = () => super.query(beginningWithContext(query), parameters, useStructuredResult);
    if (query === 'COMMIT' || query === 'ROLLBACK') {
      this.isEnding = true;
      return run().finally(() => (this.isEnding = false));
    }
    return this.changesAuditedAlone(query) ? this.runAlone(run) : run();
  }

  /** True if what the current flow writes is committed together with a transaction of TypeORM's. */
  get joinsTransaction(): boolean {
    return this.isTransactionActive && !this.aloneBeside;
  }

  /** The end of a single statement's transaction, to which nothing of the current flow belongs. */
  private get aloneBeside(): Promise<unknown> | undefined {
    return this.alone && UnitOfWork.isBesideAlone(this) ? this.alone : undefined;
  }

  private runAlone<T>(run: () => Promise<T>): Promise<T> {
    const result = UnitOfWork.alone(this, () => this.manager.transaction(run));
    const over = result.then(noop, noop).then(() => (this.alone = undefined));
    this.alone = over;
    return result;
  }

  private async beginLate(): Promise<void> {
    sendAhead((await this.connect()) as PoolClient, ...beginning());
  }

  private changesAuditedAlone(query: string): boolean {
    if (currentOrigin() === undefined || this.isInTransaction) return false;
    return changesAudited(this.dataSource, query);
  }

  private get isInTransaction(): boolean {
    if (this.joinsTransaction || transactionOf(this.dataSource)) return true;
    const client = this.databaseConnection as PoolClient | undefined;
    return client !== undefined && client.getTransactionStatus() !== IDLE;
  }
}
