import type { PoolClient } from 'pg';
import type { EntitySubscriberInterface, TransactionCommitEvent } from 'typeorm';
import { sendAhead } from './observed-commits';
import { nameOf } from './statement-names';
import { UnitOfWork } from './unit-of-work';
import { writerCheck } from './writer';

/**
 * Checks the writer of a unit of work again before each of its transactions commits, whoever has begun it: in one message
 * with the COMMIT, which PostgreSQL doesn't run if the check fails. The check waits for no lock.
 */
export class TransactionCheck implements EntitySubscriberInterface {
  async beforeTransactionCommit({ queryRunner }: TransactionCommitEvent): Promise<void> {
    const writer = UnitOfWork.current()?.writer;
    const { transactionDepth: depth } = queryRunner as unknown as { transactionDepth: number };
    // A greater depth is a savepoint.
    if (!writer || depth > 1) return;
    const values: unknown[] = [];
    const text = `SELECT ${writerCheck(writer, values)}`;
    sendAhead((await queryRunner.connect()) as PoolClient, { name: nameOf(text), text, values });
  }
}
