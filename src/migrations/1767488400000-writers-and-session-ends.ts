import type { MigrationInterface, QueryRunner } from 'typeorm';

export class WritersAndSessionEnds1767488400000 implements MigrationInterface {
  async up(database: QueryRunner): Promise<void> {
    // Volatile (the default), so that it sees what was committed while its statement waited for a lock.
    await database.query(`
      CREATE FUNCTION require_writer(session uuid, writer bigint, held text[]) RETURNS void LANGUAGE plpgsql AS $$
      BEGIN
        PERFORM FROM users
          WHERE id = writer AND status = 'ACTIVE' AND deleted_at IS NULL AND roles @> held
            AND (session IS NULL OR EXISTS (SELECT FROM sessions WHERE sessions.id = session AND user_id = writer));
        IF NOT FOUND THEN
          RAISE EXCEPTION 'The writer has lost its session or a role' USING ERRCODE = 'WR401';
        END IF;
      END $$`);

    // The hash of the common part of all refresh tokens of a session.
    await database.query('ALTER TABLE sessions ADD family_hash bytea');
    await database.query('CREATE UNIQUE INDEX sessions_family_hash_unique ON sessions (family_hash)');

    // A small index for the check that another administrator remains.
    await database.query(`
      CREATE INDEX users_administrators ON users (id)
       WHERE roles @> ARRAY['ADMIN'] AND status = 'ACTIVE' AND deleted_at IS NULL`);
  }

  async down(database: QueryRunner): Promise<void> {
    await database.query('DROP INDEX users_administrators');
    await database.query('ALTER TABLE sessions DROP COLUMN family_hash');
    await database.query('DROP FUNCTION require_writer');
  }
}
