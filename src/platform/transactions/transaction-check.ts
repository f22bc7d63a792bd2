import type { EntitySubscriberInterface, TransactionCommitEvent } from 'typeorm';
import { UnitOfWork } from './unit-of-work';
import { writerCheck } from './writer';

/** Before a transaction of a unit of work commits, whoever began it, its writer is looked at once more. */
export class TransactionCheck implements EntitySubscriberInterface {
  async beforeTransactionCommit({ queryRunner }: TransactionCommitEvent): Promise<void> {
    const writer = UnitOfWork.current()?.writer;
    const { transactionDepth: depth } = queryRunner as unknown as { transactionDepth: number };
    // What ends at a greater depth is a savepoint.
    if (!writer || depth > 1) return;
    const values: unknown[] = [];
    await queryRunner.query(`SELECT ${writerCheck(writer, values)}`, values);
  }
}
