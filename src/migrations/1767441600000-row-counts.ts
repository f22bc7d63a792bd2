import type { MigrationInterface, QueryRunner } from 'typeorm';
import { countRows, uncountRows } from '../platform';

/** Rows per table and status: this many transactions can write counts without waiting for each other. */
const SLOTS = 64;
/** The first part of the advisory lock keys, which separates them from other locks. */
const LOCK_CLASS = 7_229;

export class RowCounts1767441600000 implements MigrationInterface {
  async up(database: QueryRunner): Promise<void> {
    // Updated often: the fill factor leaves room for new versions of the rows.
    await database.query(`
      CREATE TABLE row_counts (
        table_name text NOT NULL,
        status text NOT NULL,
        slot integer NOT NULL,
        rows bigint NOT NULL,
        CONSTRAINT row_counts_pkey PRIMARY KEY (table_name, status, slot)
      ) WITH (fillfactor = 50)`);
    // A slot belongs to one transaction at a time, so transactions neither wait for each other nor deadlock. If its
    // slot is taken, a transaction uses one that no other backend uses.
    await database.query(`
      CREATE FUNCTION add_row_count(table_name text, status text, rows bigint) RETURNS void LANGUAGE plpgsql AS $$
      DECLARE
        slot integer := pg_backend_pid() % ${SLOTS};
      BEGIN
        IF rows = 0 THEN RETURN; END IF;
        IF NOT pg_try_advisory_xact_lock(${LOCK_CLASS}, slot) THEN slot := ${SLOTS} + pg_backend_pid(); END IF;
        INSERT INTO row_counts AS known VALUES (table_name, status, slot, rows)
          ON CONFLICT ON CONSTRAINT row_counts_pkey DO UPDATE SET rows = known.rows + EXCLUDED.rows;
      END $$`);
    await countRows(database, 'users', { status: true, deleted_at: true });
  }

  async down(database: QueryRunner): Promise<void> {
    await uncountRows(database, 'users');
    await database.query('DROP FUNCTION add_row_count');
    await database.query('DROP TABLE row_counts');
  }
}
