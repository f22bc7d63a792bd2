import type { PoolClient } from 'pg';
import { BEGIN, beginning, beginningWithContext } from './audit-context';
import { ReleasedError, ReleasedRunner } from './released-runner';
import { changesAudited } from './audited-tables';
import { sendAhead } from './observed-commits';
import { currentOrigin } from './place';
import { transactionOf } from './unit-of-work';

const IDLE = 'I';

/**
 * TypeORM's query runner, whose writes tell the audit who makes them: a transaction tells it at its beginning, and a
 * single statement that changes audited rows becomes a transaction.
 */
export class AuditedRunner extends ReleasedRunner {
  /** True if a transaction of PostgreSQL's own isolation level begins in one message with its first statement. */
  beginsLate = false;
  /** True while the end of its transaction is under way. */
  private isEnding = false;

  override query<T>(query: string, parameters: unknown[] | undefined, useStructuredResult: true): Promise<T>;
  override query<T>(query: string, parameters?: unknown[], useStructuredResult?: boolean): Promise<T>;
  override query(query: string, parameters?: unknown[], useStructuredResult = false): Promise<unknown> {
    if (this.beginsLate && query === BEGIN) return this.beginLate();
    // It would run behind the end, and stand for itself.
    if (this.isEnding) return Promise.reject(new ReleasedError());
    const run = () => super.query(beginningWithContext(query), parameters, useStructuredResult);
    if (query === 'COMMIT' || query === 'ROLLBACK') {
      this.isEnding = true;
      return run().finally(() => (this.isEnding = false));
    }
    return this.changesAuditedAlone(query) ? this.manager.transaction(run) : run();
  }

  private async beginLate(): Promise<void> {
    sendAhead((await this.connect()) as PoolClient, ...beginning());
  }

  private changesAuditedAlone(query: string): boolean {
    if (currentOrigin() === undefined || this.isInTransaction) return false;
    return changesAudited(this.dataSource, query);
  }

  private get isInTransaction(): boolean {
    if (this.isTransactionActive || transactionOf(this.dataSource)) return true;
    const client = this.databaseConnection as PoolClient | undefined;
    return client !== undefined && client.getTransactionStatus() !== IDLE;
  }
}
