import type { MigrationInterface, QueryRunner } from 'typeorm';
import { countFunction, numberMoves } from '../../rows/count-rows';
import { COUNTED_TABLES, type FoundTable } from '../../rows/counted-tables';

/** Has the triggers of countRows() count in one statement instead of one that calls a function: every insert pays for it. */
export class CountsInOneStatement1767560000000 implements MigrationInterface {
  async up(database: QueryRunner): Promise<void> {
    const tables = (await database.query(COUNTED_TABLES)) as FoundTable[];
    await numberMoves(database);
    for (const { table, ...counted } of tables) await database.query(countFunction(table, counted));
  }

  /** The last release counts the same by either text. */
  async down(): Promise<void> {}
}
