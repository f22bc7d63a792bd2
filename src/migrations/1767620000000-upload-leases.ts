import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Who writes to an upload, and until when: the locks of processes that reach the database through a pooler. */
export class UploadLeases1767620000000 implements MigrationInterface {
  async up(database: QueryRunner): Promise<void> {
    await database.query(`
      CREATE TABLE upload_leases (
        key text CONSTRAINT upload_leases_pkey PRIMARY KEY,
        holder uuid NOT NULL,
        expires_at timestamptz NOT NULL
      )`);
  }

  async down(database: QueryRunner): Promise<void> {
    await database.query('DROP TABLE upload_leases');
  }
}
