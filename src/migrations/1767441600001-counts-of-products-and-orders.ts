import type { MigrationInterface, QueryRunner } from 'typeorm';
import { countRows, uncountRows } from '../platform';

/** A database on which the migration before counted these tables already counts them anew. */
export class CountsOfProductsAndOrders1767441600001 implements MigrationInterface {
  async up(database: QueryRunner): Promise<void> {
    await countRows(database, 'products', { status: true, deleted_at: true });
    await countRows(database, 'orders', { status: true });
  }

  async down(database: QueryRunner): Promise<void> {
    for (const table of ['products', 'orders']) await uncountRows(database, table);
  }
}
