import { Client } from 'pg';
import type { EntityManager } from 'typeorm';
import { hasOwnPool } from './cancellable-pool';
import { sendWith } from './observed-commits';
import { nameOf } from './statement-names';
import { Refusal } from './transaction-refusals';
import { transactionOf } from './unit-of-work';

const LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('resource-api: ' || $1, 0))";

/**
 * Locks a name until the transaction ends, or the nested one that has locked it is rolled back, and waits until no other
 * transaction has it: for what no row stands for. What is read afterwards includes what the transaction before it has committed, unless the isolation
 * level is REPEATABLE READ or SERIALIZABLE, which read as of the transaction's first statement.
 * @param manager that of the transaction
 * @param name of what happens in turn, such as `open orders 7`. `withLock()` has the same names
 * @throws {Error} outside of a transaction of TypeORM's, where the lock would end at once
 */
export async function lockName(manager: EntityManager, name: string): Promise<void> {
  if (!(await isInTransaction(manager))) throw Refusal.unlocked(name);
  await manager.query(LOCK, [name]);
}

/**
 * Locks a name like {@link lockName}, and then runs a statement. Both go to PostgreSQL in one message where that is possible, so
 * the lock costs no round trip.
 * @param text a statement that returns rows: SELECT, or INSERT ... RETURNING
 * @returns its rows
 */
export async function lockAndQuery<R>(
  manager: EntityManager,
  name: string,
  text: string,
  values: unknown[] = [],
): Promise<R[]> {
  if (!isAlone(manager)) {
    await lockName(manager, name);
    return manager.query<R[]>(text, values);
  }
  const own = [...values];
  sendWith(own, { text: LOCK, name: nameOf(LOCK), values: [name] });
  return manager.query<R[]>(text, own);
}

/**
 * True in a transaction on a connection of its own. False in one that others share, and for a data source of the application, whose
 * connections the service doesn't know.
 */
function isAlone({ queryRunner, dataSource }: EntityManager): boolean {
  return queryRunner?.isTransactionActive === true && !transactionOf(dataSource) && hasOwnPool(dataSource);
}

async function isInTransaction({ queryRunner, dataSource }: EntityManager): Promise<boolean> {
  if (queryRunner?.isTransactionActive) return true;
  const shared = transactionOf(dataSource);
  if (!shared || shared.isClosed) return false;
  // A runner that was made before the shared transaction has a connection of its own.
  return !queryRunner || !((await queryRunner.connect()) instanceof Client);
}
