import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The audit: what has changed, who changed it, and what else concerns security. Triggers of `auditRows()` write the changes
 * into it, in the transaction of each.
 */
export class AuditEvents1767620000000 implements MigrationInterface {
  async up(database: QueryRunner): Promise<void> {
    // Nothing refers to another table: an event outlives the rows that it is about. transaction_id orders events in a way
    // in which a reader misses none that commits late: those before pg_snapshot_xmin(pg_current_snapshot()) are complete.
    await database.query(`
      CREATE TABLE audit_events (
        id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 9007199254740991) CONSTRAINT audit_events_pkey PRIMARY KEY,
        transaction_id xid8 NOT NULL DEFAULT pg_current_xact_id(),
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
        details jsonb
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
    await database.query(AUDIT_ROWS);
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
    await database.query('DROP FUNCTION audit_rows CASCADE');
    await database.query('DROP TABLE audit_events');
    await database.query('DROP FUNCTION keep_audit_events');
  }
}

/** The columns that say who made a change; see audit-context.ts. */
const WHO = `(context->>'user_id')::bigint, context->>'request_id', context->>'address'`;

/** Its arguments: the resource, the column of the id, columns that aren't recorded, and columns whose values aren't. */
const AUDIT_ROWS = `
  CREATE FUNCTION audit_rows() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE
    context jsonb := nullif(current_setting('audit.context', true), '')::jsonb;
    resource text := TG_ARGV[0];
    id text := TG_ARGV[1];
    omitted text[] := TG_ARGV[2];
    secret text[] := TG_ARGV[3];
    old_row jsonb;
    new_row jsonb;
    old_values jsonb;
    new_values jsonb;
    hidden text[];
    change text := 'UPDATED';
  BEGIN
    IF TG_OP = 'UPDATE' THEN
      old_row := to_jsonb(OLD);
      new_row := to_jsonb(NEW);
      SELECT jsonb_object_agg(key, old_row->key) FILTER (WHERE key <> ALL (secret)),
             jsonb_object_agg(key, value) FILTER (WHERE key <> ALL (secret)),
             coalesce(array_agg(key ORDER BY key) FILTER (WHERE key = ANY (secret)), '{}')
        INTO old_values, new_values, hidden
        FROM jsonb_each(new_row) WHERE value IS DISTINCT FROM old_row->key AND key <> ALL (omitted);
      -- A row that is hidden counts as deleted.
      IF new_values ? 'deleted_at' THEN
        IF old_values->'deleted_at' = 'null' THEN change := 'DELETED';
        ELSIF new_values->'deleted_at' = 'null' THEN change := 'CREATED';
        END IF;
      END IF;
      INSERT INTO audit_events (user_id, request_id, address, action, resource, resource_id, version_before, version_after,
                                before, after, concealed)
        VALUES (${WHO}, change, resource, new_row->>id, (old_row->>'version')::integer, (new_row->>'version')::integer,
                old_values, new_values, hidden);
    ELSIF TG_OP = 'INSERT' THEN
      INSERT INTO audit_events (user_id, request_id, address, action, resource, resource_id, version_after, after, concealed)
        SELECT ${WHO}, 'CREATED', resource, one->>id, (one->>'version')::integer, one - omitted - secret,
               ARRAY(SELECT name FROM unnest(secret) AS name WHERE one->>name IS NOT NULL)
          FROM (SELECT to_jsonb(added) AS one FROM added OFFSET 0) AS rows;
    ELSIF TG_OP = 'DELETE' THEN
      INSERT INTO audit_events (user_id, request_id, address, action, resource, resource_id, version_before, before, concealed)
        SELECT ${WHO}, 'DELETED', resource, one->>id, (one->>'version')::integer, one - omitted - secret,
               ARRAY(SELECT name FROM unnest(secret) AS name WHERE one->>name IS NOT NULL)
          FROM (SELECT to_jsonb(removed) AS one FROM removed OFFSET 0) AS rows;
    ELSE
      INSERT INTO audit_events (user_id, request_id, address, action, resource) VALUES (${WHO}, 'TRUNCATED', resource);
    END IF;
    RETURN NULL;
  END $$`;
