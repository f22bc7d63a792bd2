import type { MigrationInterface, QueryRunner } from 'typeorm';

export class OrderExpiry1767498600000 implements MigrationInterface {
  async up(database: QueryRunner): Promise<void> {
    // Existing orders never expire, because nobody was told that they would.
    await database.query('ALTER TABLE orders ADD COLUMN expires_at timestamptz(3)');
    await database.query("CREATE INDEX orders_open_index ON orders (user_id) WHERE status = 'PENDING'");
    await database.query("CREATE INDEX orders_expires_at_index ON orders (expires_at) WHERE status = 'PENDING'");
  }

  async down(database: QueryRunner): Promise<void> {
    await database.query('DROP INDEX orders_open_index');
    await database.query('ALTER TABLE orders DROP COLUMN expires_at');
  }
}
