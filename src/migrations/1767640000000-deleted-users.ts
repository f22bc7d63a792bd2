import type { MigrationInterface, QueryRunner } from 'typeorm';
import { addIndex, dropIndex } from '../platform';

/** Administrators list deleted users, by id and by the last change, without reading all others. */
export class DeletedUsers1767640000000 implements MigrationInterface {
  transaction = false;

  async up(database: QueryRunner): Promise<void> {
    await addIndex(database, 'users_deleted', 'ON users (id) WHERE deleted_at IS NOT NULL');
    await addIndex(database, 'users_deleted_since', 'ON users (updated_at, id) WHERE deleted_at IS NOT NULL');
  }

  async down(database: QueryRunner): Promise<void> {
    await dropIndex(database, 'users_deleted_since');
    await dropIndex(database, 'users_deleted');
  }
}
