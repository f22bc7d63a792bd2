import type { PoolClient } from 'pg';
import type { EntityManager } from 'typeorm';
import { sendAhead } from './observed-commits';
import { nameOf } from './statement-names';
import { transactionOf } from './unit-of-work';

const LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('resource-api: ' || $1, 0))";

/**
 * Locks a name until the transaction ends: of all transactions that lock the same name, one runs at a time. What its next
 * statement sees is what the one before it has committed. Waits when the next statement is sent, because both go to
 * PostgreSQL in one message.
 * @param manager that of the transaction
 * @param name of what happens in turn, such as `orders of user 7`
 * @throws {Error} outside of a transaction, where the lock would end at once
 */
export async function lockName(manager: EntityManager, name: string): Promise<void> {
  const { queryRunner, dataSource } = manager;
  if (!queryRunner?.isTransactionActive) throw new Error(`lockName('${name}') needs the manager of a transaction`);
  // A shared transaction runs the statements of its participants in turn.
  if (transactionOf(dataSource)) return void (await manager.query(LOCK, [name]));
  const client = (await queryRunner.connect()) as PoolClient;
  sendAhead(client, { text: LOCK, name: nameOf(LOCK), values: [name] });
}
