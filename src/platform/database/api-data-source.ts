import type { PoolClient } from 'pg';
import { DataSource, type EntityManager, type QueryRunner, type ReplicationMode } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver';
import type { IsolationLevel } from 'typeorm/driver/types/IsolationLevel';
import { callListener, settle, type Outcome } from '../transactions/after-commit';
import { ApiQueryRunner } from '../transactions/api-query-runner';
import { rememberConstraints } from '../rows/constraints';
import { findCountedTables } from '../rows/counted-tables';
import { findAuditedTables } from '../transactions/audited-tables';
import { guardBuilders } from '../transactions/guarded-builders';
import { GuardedManager, refuseUnguardedStatements } from '../transactions/guarded-writes';
import { findProtectedTables } from '../rows/kept-apart';
import '../transactions/optimistic-lock';
import { apart } from '../transactions/place';
import { unlessReleased } from '../transactions/released-runner';
import { SharedTransaction } from '../transactions/shared-transaction';
import { subscribe } from '../transactions/subscribers';
import { TransactionCheck } from '../transactions/transaction-check';
import { UnitOfWork } from '../transactions/unit-of-work';

type Work<T> = (manager: EntityManager) => Promise<T>;
/** Runs a handler, so that everything it does joins a transaction. */
export type Sharing = <T>(handler: () => Promise<T>) => Promise<T>;

/** TypeORM's manager; its transactions join the transaction of the current unit of work. */
class ApiEntityManager extends GuardedManager {
  override transaction<T>(isolation: IsolationLevel, work: Work<T>): Promise<T>;
  override transaction<T>(work: Work<T>): Promise<T>;
  override transaction<T>(isolationOrWork: IsolationLevel | Work<T>, work?: Work<T>): Promise<T> {
    const begin = () => super.transaction<T>(isolationOrWork as IsolationLevel, work!);
    return apart(() => unlessReleased(this.queryRunner, begin));
  }
}

/** TypeORM's data source, whose repositories and managers take part in the transaction of the current unit of work. */
export class ApiDataSource extends DataSource {
  override async initialize(): Promise<this> {
    await super.initialize();
    await findCountedTables(this);
    await findProtectedTables(this);
    await findAuditedTables(this);
    rememberConstraints(this);
    refuseUnguardedStatements(this);
    subscribe(this, new TransactionCheck());
    return this;
  }

  override query<T>(...parameters: Parameters<DataSource['query']>): Promise<T> {
    const [, , runner] = parameters;
    return unlessReleased(runner, () => super.query<T>(...parameters));
  }

  override createQueryRunner(mode: ReplicationMode = 'master'): QueryRunner {
    const runner = new ApiQueryRunner(this.driver as PostgresDriver, mode);
    return Object.assign(runner, { manager: this.createEntityManager(runner) });
  }

  override createEntityManager(runner?: QueryRunner): EntityManager {
    return new ApiEntityManager(this, runner);
  }

  // eslint-disable-next-line no-restricted-syntax -- one for the whole process
  override createQueryBuilder: DataSource['createQueryBuilder'] = (...parameters: unknown[]) => {
    guardBuilders();
    return super.createQueryBuilder(...(parameters as [])) as never;
  };

  override async destroy(): Promise<void> {
    // Code that still runs in a transaction can't report errors any more.
    const { connectedQueryRunners } = this.driver as PostgresDriver;
    for (const runner of [...connectedQueryRunners]) await runner.release().catch(() => undefined);
    await super.destroy();
  }
}

/**
 * Runs `work` in one transaction. Everything that the current unit of work does in the handler that `work` runs by
 * `sharing` joins it, in whichever service: transactions of the handler become savepoints. The transaction is committed
 * when everything that the handler has started has ended. What starts later is independent of it.
 * @param work gets the connection, for statements that nobody else's have to wait for
 * @param isolation Default: PostgreSQL's own
 */
export async function inOneTransaction<T>(
  database: DataSource,
  work: (client: PoolClient, sharing: Sharing) => Promise<T>,
  isolation?: IsolationLevel,
): Promise<T> {
  const unit = UnitOfWork.current();
  if (!unit) throw new Error('There is no unit of work to make a transaction of');
  const runner = database.createQueryRunner() as ApiQueryRunner;
  // An isolation level has to be set before the first statement.
  runner.beginsLate = isolation === undefined && database.options.isolationLevel === undefined;
  let outcome: Outcome = 'Rollback';
  const whole = async () => {
    UnitOfWork.waiters()?.push((known) => void (outcome = known));
    const client = (await runner.connect()) as PoolClient;
    const shared = new SharedTransaction(database, client, () => UnitOfWork.currentFrame(), isolation);
    return work(client, (handler) => share(unit, shared, handler));
  };
  try {
    return await (isolation ? runner.manager.transaction(isolation, whole) : runner.manager.transaction(whole));
  } finally {
    const shared = unit.transaction;
    unit.transaction = undefined;
    try {
      await runner.release();
    } finally {
      shared?.ended();
      if (shared) await settle(shared.root.waiters, outcome);
    }
  }
}

async function share<T>(unit: UnitOfWork, shared: SharedTransaction, handler: () => Promise<T>): Promise<T> {
  unit.transaction = shared;
  const result = await handler().finally(() => shared.close());
  if (shared.failure) throw shared.failure;
  return result;
}

/**
 * Runs `listener` when the innermost current transaction and all transactions around it are committed, or at once if
 * there is none. It never runs if one of them is rolled back. Nobody waits for the listener. Its failure is logged.
 */
export function afterCommit(listener: () => unknown): void {
  const waiters = UnitOfWork.waiters();
  if (waiters) waiters.push((outcome) => (outcome === 'Commit' ? callListener(listener) : undefined));
  else callListener(listener);
}
