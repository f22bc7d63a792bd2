import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A webhook begins at the moment of its creation: it knows the events that were committed before, although its position is
 * before them. `since`, which was a guess, is of the last release.
 */
export class BeginWebhooksExactly1767700000002 implements MigrationInterface {
  async up(database: QueryRunner): Promise<void> {
    await database.query("ALTER TABLE webhook_progress ADD COLUMN known int8multirange NOT NULL DEFAULT '{}'");
    await database.query("ALTER TABLE webhook_progress ALTER COLUMN since SET DEFAULT '-infinity'");
  }

  async down(database: QueryRunner): Promise<void> {
    await database.query('ALTER TABLE webhook_progress ALTER COLUMN since DROP DEFAULT');
    await database.query('ALTER TABLE webhook_progress DROP COLUMN known');
  }
}
