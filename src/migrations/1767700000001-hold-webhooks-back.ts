import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A receiver may say when it will have time again. Nothing is sent to it before. */
export class HoldWebhooksBack1767700000001 implements MigrationInterface {
  async up(database: QueryRunner): Promise<void> {
    await database.query('ALTER TABLE webhook_progress ADD COLUMN not_before timestamptz(3)');
  }

  async down(database: QueryRunner): Promise<void> {
    await database.query('ALTER TABLE webhook_progress DROP COLUMN not_before');
  }
}
