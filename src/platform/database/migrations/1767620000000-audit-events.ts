import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The audit: what has changed, who changed it, and what else concerns security. Triggers of `auditRows()` write the changes
 * into it, in the transaction of each.
 */
export class AuditEvents1767620000000 implements MigrationInterface {
  async up(database: QueryRunner): Promise<void> {
    // Nothing refers to another table: an event outlives the rows that it is about. readers_before and readers_after say who
    // could and can read the row, see auditRows(): 0 is everybody, -1 only administrators, and a number a user.
    await database.query(`
      CREATE TABLE audit_events (
        id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991) CONSTRAINT audit_events_pkey PRIMARY KEY,
        created_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
        user_id bigint,
        request_id text,
        address text,
        action text NOT NULL,
        resource text,
        resource_id text,
        version_before integer,
        version_after integer,
        before jsonb,
        after jsonb,
        concealed text[] NOT NULL DEFAULT '{}',
        details jsonb,
        readers_before bigint,
        readers_after bigint
      )`);
    await database.query(
      'CREATE INDEX audit_events_resource_index ON audit_events (resource, resource_id, id) WHERE resource IS NOT NULL',
    );
    await database.query('CREATE INDEX audit_events_user_id_index ON audit_events (user_id, id)');
    // Events come in the order of their time, so an index of blocks is enough.
    await database.query('CREATE INDEX audit_events_created_at_index ON audit_events USING brin (created_at)');
    // Those that aren't changes of a resource, which are few.
    await database.query(
      'CREATE INDEX audit_events_action_index ON audit_events (action, id) WHERE version_before IS NULL AND version_after IS NULL',
    );
    await this.protect(database);
  }

  private async protect(database: QueryRunner): Promise<void> {
    await database.query(`
      CREATE FUNCTION keep_audit_events() RETURNS trigger LANGUAGE plpgsql AS $$
      DECLARE
        -- The retention says until when it deletes. An event of the last day stays, whatever it says.
        until timestamptz := least(nullif(current_setting('audit.expired', true), '')::timestamptz, now() - interval '1 day');
      BEGIN
        IF TG_OP = 'DELETE' AND until IS NOT NULL AND current_setting('audit.expired', true) <> '' THEN
          IF NOT EXISTS (SELECT FROM removed WHERE created_at >= until) THEN RETURN NULL; END IF;
        END IF;
        RAISE EXCEPTION 'Audit events are neither changed nor deleted' USING ERRCODE = 'insufficient_privilege';
      END $$`);
    await database.query(
      `CREATE TRIGGER audit_events_kept AFTER DELETE ON audit_events REFERENCING OLD TABLE AS removed
          FOR EACH STATEMENT EXECUTE FUNCTION keep_audit_events()`,
    );
    await database.query(
      `CREATE TRIGGER audit_events_unchanged BEFORE UPDATE OR TRUNCATE ON audit_events
          FOR EACH STATEMENT EXECUTE FUNCTION keep_audit_events()`,
    );
  }

  async down(database: QueryRunner): Promise<void> {
    await database.query('DROP TABLE audit_events');
    await database.query('DROP FUNCTION keep_audit_events');
  }
}
