import type { MigrationInterface, QueryRunner } from 'typeorm';

export class WritePositions1767630000000 implements MigrationInterface {
  async up(database: QueryRunner): Promise<void> {
    // Updated often: the fill factor leaves room for new versions of the rows.
    // Unlogged: a position is of no use after a crash, and is written without waiting for a disk or a standby.
    await database.query(`
      CREATE UNLOGGED TABLE write_positions (
        user_id bigint CONSTRAINT write_positions_pkey PRIMARY KEY,
        position pg_lsn NOT NULL
      ) WITH (fillfactor = 50)`);
  }

  async down(database: QueryRunner): Promise<void> {
    await database.query('DROP TABLE write_positions');
  }
}
