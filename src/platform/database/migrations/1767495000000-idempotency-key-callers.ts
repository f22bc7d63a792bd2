import type { MigrationInterface, QueryRunner } from 'typeorm';

export class IdempotencyKeyCallers1767495000000 implements MigrationInterface {
  async up(database: QueryRunner): Promise<void> {
    // Nullable: during a rolling update, instances of the last release insert rows without it.
    await database.query('ALTER TABLE idempotency_keys ADD COLUMN caller bytea');
    await database.query('CREATE INDEX idempotency_keys_caller_index ON idempotency_keys (caller, created_at)');
  }

  async down(database: QueryRunner): Promise<void> {
    await database.query('ALTER TABLE idempotency_keys DROP COLUMN caller');
  }
}
