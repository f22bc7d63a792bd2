import type { EntitySubscriberInterface, TransactionCommitEvent } from 'typeorm';
import { UnitOfWork } from './unit-of-work';
import { writerCheck } from './writer';

/** Checks the writer of a unit of work again before each of its transactions commits, whoever has begun it. */
export class TransactionCheck implements EntitySubscriberInterface {
  async beforeTransactionCommit({ queryRunner }: TransactionCommitEvent): Promise<void> {
    const writer = UnitOfWork.current()?.writer;
    const { transactionDepth: depth } = queryRunner as unknown as { transactionDepth: number };
    // A greater depth is a savepoint.
    if (!writer || depth > 1) return;
    const values: unknown[] = [];
    await queryRunner.query(`SELECT ${writerCheck(writer, values)}`, values);
  }
}
