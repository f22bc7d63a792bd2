import { DataSource, type EntityManager, type QueryRunner, type ReplicationMode } from 'typeorm';
import { rememberConstraints } from './constraints';
import { findCountedTables } from './counted-tables';
import { guardBuilders } from './guarded-builders';
import { GuardedManager, refuseUnguardedStatements } from './guarded-writes';
import { subscribe } from './subscribers';
import { TransactionCheck } from './transaction-check';
import { UnitOfWork } from './unit-of-work';

/** TypeORM's data source, whose repositories and managers take part in the transaction of the current unit of work. */
export class ApiDataSource extends DataSource {
  override async initialize(): Promise<this> {
    await super.initialize();
    await findCountedTables(this);
    rememberConstraints(this);
    refuseUnguardedStatements(this);
    subscribe(this, new TransactionCheck());
    return this;
  }

  override createEntityManager(runner?: QueryRunner): EntityManager {
    return new GuardedManager(this, runner);
  }

  override createQueryBuilder: DataSource['createQueryBuilder'] = (...parameters: unknown[]) => {
    guardBuilders();
    return super.createQueryBuilder(...(parameters as [])) as never;
  };

  override createQueryRunner(mode?: ReplicationMode): QueryRunner {
    return UnitOfWork.current()?.transaction ?? super.createQueryRunner(mode);
  }
}

/**
 * Makes one transaction of all that the current unit of work does meanwhile, whichever service does it: their own
 * transactions become savepoints of it.
 */
export async function inOneTransaction<T>(
  database: DataSource,
  work: (manager: EntityManager) => Promise<T>,
): Promise<T> {
  const unit = UnitOfWork.current();
  if (!unit) throw new Error('There is no unit of work to make a transaction of');
  const runner = database.createQueryRunner();
  const release = runner.release.bind(runner);
  // Whoever takes part believes the runner to be its own.
  runner.release = () => Promise.resolve();
  unit.transaction = runner;
  try {
    const result = await runner.manager.transaction(work);
    for (const listener of unit.takeListeners()) listener();
    return result;
  } finally {
    unit.transaction = undefined;
    await release();
  }
}

/**
 * Runs `listener` when what the current unit of work has done is committed: at once, unless it is one transaction until its
 * end. Never when that is rolled back.
 */
export function afterCommit(listener: () => void): void {
  const unit = UnitOfWork.current();
  if (unit?.transaction) unit.onCommit(listener);
  else listener();
}
