import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Keeps the number of audit events up to one of them, so that their list need not count them all. Those who write events do nothing
 * for it: `audit-count.ts` counts later what they have written, and the trigger takes off what the retention removes.
 */
export class SettledCounts1767740000000 implements MigrationInterface {
  async up(database: QueryRunner): Promise<void> {
    await database.query(`
      CREATE TABLE settled_counts (
        table_name text CONSTRAINT settled_counts_pkey PRIMARY KEY,
        up_to bigint NOT NULL DEFAULT 0,
        rows bigint NOT NULL DEFAULT 0
      ) WITH (fillfactor = 50)`);
    await database.query("INSERT INTO settled_counts (table_name) VALUES ('audit_events')");
    // Locks before it looks: what is counted meanwhile has counted the removed events, too. It runs as the owner of the tables, for
    // those who may delete events and nothing else.
    await database.query(`
      CREATE FUNCTION audit_events_count_settled() RETURNS trigger LANGUAGE plpgsql
      SECURITY DEFINER SET search_path FROM CURRENT AS $$
      DECLARE
        counted bigint;
      BEGIN
        IF NOT EXISTS (SELECT FROM removed) THEN RETURN NULL; END IF;
        SELECT up_to INTO counted FROM settled_counts WHERE table_name = 'audit_events' FOR UPDATE;
        UPDATE settled_counts SET rows = rows - (SELECT count(*) FROM removed WHERE id <= counted)
         WHERE table_name = 'audit_events';
        RETURN NULL;
      END $$`);
    await database.query(
      `CREATE TRIGGER audit_events_count_settled AFTER DELETE ON audit_events REFERENCING OLD TABLE AS removed
          FOR EACH STATEMENT EXECUTE FUNCTION audit_events_count_settled()`,
    );
  }

  /** Stop all instances before: their lists would read a table that is gone. */
  async down(database: QueryRunner): Promise<void> {
    await database.query('DROP TABLE settled_counts');
    await database.query('DROP FUNCTION audit_events_count_settled CASCADE');
  }
}
