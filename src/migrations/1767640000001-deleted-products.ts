import type { MigrationInterface, QueryRunner } from 'typeorm';
import { addIndex, dropIndex } from '../platform';

/** Administrators list deleted products, by id and by the last change, without reading all others. */
export class DeletedProducts1767640000001 implements MigrationInterface {
  transaction = false;

  async up(database: QueryRunner): Promise<void> {
    await addIndex(database, 'products_deleted', 'ON products (id) WHERE deleted_at IS NOT NULL');
    await addIndex(database, 'products_deleted_since', 'ON products (updated_at, id) WHERE deleted_at IS NOT NULL');
  }

  async down(database: QueryRunner): Promise<void> {
    await dropIndex(database, 'products_deleted_since');
    await dropIndex(database, 'products_deleted');
  }
}
