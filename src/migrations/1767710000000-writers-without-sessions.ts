import type { MigrationInterface, QueryRunner } from 'typeorm';

const ACCOUNT = `id = writer AND status = 'ACTIVE' AND deleted_at IS NULL AND roles @> held`;
const OWN_SESSION = 'EXISTS (SELECT FROM sessions WHERE sessions.id = session AND user_id = writer)';

/**
 * A writer who has signed in elsewhere has no session here. A statement for both was planned anew for each of its writes,
 * because a plan that knows of no session seems to cost less: seven times as long as the check itself.
 */
export class WritersWithoutSessions1767710000000 implements MigrationInterface {
  async up(database: QueryRunner): Promise<void> {
    await database.query(`
      CREATE OR REPLACE FUNCTION require_writer(session uuid, writer bigint, held text[]) RETURNS void LANGUAGE plpgsql AS $$
      BEGIN
        IF session IS NULL THEN PERFORM FROM users WHERE ${ACCOUNT};
        ELSE PERFORM FROM users WHERE ${ACCOUNT} AND ${OWN_SESSION};
        END IF;
        IF NOT FOUND THEN
          RAISE EXCEPTION 'The writer has lost its session or a role' USING ERRCODE = 'WR401';
        END IF;
      END $$`);
  }

  async down(database: QueryRunner): Promise<void> {
    await database.query(`
      CREATE OR REPLACE FUNCTION require_writer(session uuid, writer bigint, held text[]) RETURNS void LANGUAGE plpgsql AS $$
      BEGIN
        PERFORM FROM users WHERE ${ACCOUNT} AND (session IS NULL OR ${OWN_SESSION});
        IF NOT FOUND THEN
          RAISE EXCEPTION 'The writer has lost its session or a role' USING ERRCODE = 'WR401';
        END IF;
      END $$`);
  }
}
