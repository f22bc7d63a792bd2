import { Client, type PoolClient } from 'pg';
import type { EntityManager } from 'typeorm';
import { hasOwnPool } from './cancellable-pool';
import { sendAhead } from './observed-commits';
import { PooledClient } from './pooled-client';
import { nameOf } from './statement-names';
import { Refusal } from './transaction-refusals';
import { transactionOf } from './unit-of-work';

const LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('resource-api: ' || $1, 0))";

/**
 * Locks a name until the transaction ends, and waits until no other transaction has it: for what no row stands for. What is read
 * afterwards includes what the transaction before it has committed.
 * @param manager that of the transaction
 * @param name of what happens in turn, such as `open orders 7`
 * @throws {Error} outside of a transaction, where the lock would end at once
 */
export async function lockName(manager: EntityManager, name: string): Promise<void> {
  requireTransaction(manager, name);
  await manager.query(LOCK, [name]);
}

/**
 * Locks a name like {@link lockName}, and then runs a statement. Both go to PostgreSQL in one message where that is possible, so
 * the lock costs no round trip.
 * @returns what `manager.query()` returns: the rows of a query
 */
export async function lockAndQuery<R>(
  manager: EntityManager,
  name: string,
  text: string,
  values: unknown[] = [],
): Promise<R[]> {
  requireTransaction(manager, name);
  const client = await ownClient(manager);
  // A statement of others that comes in between takes the lock along, so the lock always comes before this statement.
  if (client) sendAhead(client, { text: LOCK, name: nameOf(LOCK), values: [name] });
  else await manager.query(LOCK, [name]);
  return manager.query<R[]>(text, values);
}

function requireTransaction({ queryRunner, dataSource }: EntityManager, name: string): void {
  if (!queryRunner?.isTransactionActive && !transactionOf(dataSource)) throw Refusal.unlocked(name);
}

/**
 * The connection of a transaction that has it for itself. Undefined in a transaction that others share, behind a pooler, which gets
 * each statement alone, and for a data source of the application.
 */
async function ownClient({ queryRunner, dataSource }: EntityManager): Promise<PoolClient | undefined> {
  if (!queryRunner || transactionOf(dataSource) || !hasOwnPool(dataSource)) return undefined;
  const client: unknown = await queryRunner.connect();
  return client instanceof Client && !(client instanceof PooledClient) ? (client as PoolClient) : undefined;
}
