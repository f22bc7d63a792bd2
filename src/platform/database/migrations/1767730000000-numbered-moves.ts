import type { MigrationInterface, QueryRunner } from 'typeorm';
import { countChanges, countFunction, numberMoves } from '../../rows/count-rows';
import { COUNTED_TABLES, type FoundTable } from '../../rows/counted-tables';

/**
 * Numbers the moves of counted rows, so that lists know whether rows still stand where they stood. Each step may be repeated, and
 * is committed by itself, so that it holds no more than one table: those who write hold several, and their counts after each, and
 * would deadlock with it.
 */
export class NumberedMoves1767730000000 implements MigrationInterface {
  async up(database: QueryRunner): Promise<void> {
    const tables = (await database.query(COUNTED_TABLES)) as FoundTable[];
    await numberMoves(database);
    for (const { table, ...counted } of tables) {
      await database.commitTransaction();
      await database.startTransaction();
      await database.query(countFunction(table, counted));
      await countChanges(database, table, counted);
    }
  }

  /** The last release counts the same by these functions, and takes no notice of the numbers. */
  async down(): Promise<void> {}
}
