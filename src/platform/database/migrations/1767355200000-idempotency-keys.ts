import type { MigrationInterface, QueryRunner } from 'typeorm';

export class IdempotencyKeys1767355200000 implements MigrationInterface {
  async up(database: QueryRunner): Promise<void> {
    await database.query(`
      CREATE TABLE idempotency_keys (
        id bytea CONSTRAINT idempotency_keys_pkey PRIMARY KEY,
        fingerprint bytea NOT NULL,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        status integer,
        headers jsonb,
        tag text,
        body text
      )`);
    await database.query('CREATE INDEX idempotency_keys_created_at_index ON idempotency_keys (created_at)');
  }

  async down(database: QueryRunner): Promise<void> {
    await database.query('DROP TABLE idempotency_keys');
  }
}
