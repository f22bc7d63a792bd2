import type { QueryRunner } from 'typeorm';

/** Slots that backends share. From this number on each slot belongs to one backend, by its number. */
export const SHARED_SLOTS = 64;
/** The first part of the keys of the advisory locks on slots. */
const LOCK_CLASS = 7_229;
/** SQL for a slot that no other transaction has: the shared one of this backend, or its own if that is taken. */
const OWN_SLOT = `CASE WHEN pg_try_advisory_xact_lock(${LOCK_CLASS}, pg_backend_pid() % ${SHARED_SLOTS})
          THEN pg_backend_pid() % ${SHARED_SLOTS} ELSE ${SHARED_SLOTS} + pg_backend_pid() END`;

export interface CountedTable {
  /** Whether the table has a column `status`, by which rows are counted too. Default: false */
  status?: boolean;
  /** Whether the table has a column `deleted_at`. Deleted rows aren't counted then. Default: false */
  deleted_at?: boolean;
}

/**
 * For a migration: counts the rows of a table from now on, so that {@link countedRows} returns their number without
 * reading them. Triggers count in the writing transaction, whatever code writes. A statement that writes many rows,
 * such as COPY, updates the counts once. Lists use the counts after the next start. Earlier triggers that count the
 * table are replaced.
 */
export async function countRows(
  database: QueryRunner,
  table: string,
  { status = false, deleted_at = false }: CountedTable = {},
): Promise<void> {
  await uncountRows(database, table);
  await database.query(countFunction(table, { status, deleted_at }));
  // The arguments state what is counted; counted-tables.ts reads them. The function itself doesn't use them.
  const counted = [...(status ? ["'status'"] : []), ...(deleted_at ? ["'deleted_at'"] : [])].join(', ');
  await database.query(
    `CREATE TRIGGER ${table}_count_added AFTER INSERT ON ${table} REFERENCING NEW TABLE AS added
        FOR EACH STATEMENT EXECUTE FUNCTION ${table}_count(${counted})`,
  );
  await database.query(
    `CREATE TRIGGER ${table}_count_removed AFTER DELETE ON ${table} REFERENCING OLD TABLE AS removed
        FOR EACH STATEMENT EXECUTE FUNCTION ${table}_count()`,
  );
  await database.query(
    `CREATE TRIGGER ${table}_count_truncated AFTER TRUNCATE ON ${table} FOR EACH STATEMENT EXECUTE FUNCTION ${table}_count()`,
  );
  if (status || deleted_at) await countChanges(database, table, status, deleted_at);
  // Counts the existing rows. The lock excludes concurrent writes.
  await database.query(`LOCK TABLE ${table} IN SHARE ROW EXCLUSIVE MODE`);
  await database.query(addCounts(table, { status, deleted_at }, '', table));
}

/** SQL for the function of the triggers that count rows which come and go. */
export function countFunction(table: string, counted: CountedTable): string {
  return `
    CREATE OR REPLACE FUNCTION ${table}_count() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF TG_OP = 'INSERT' THEN ${addCounts(table, counted, '', 'added')};
      ELSIF TG_OP = 'TRUNCATE' THEN DELETE FROM row_counts WHERE table_name = '${table}';
      ELSE ${addCounts(table, counted, '-', 'removed')};
      END IF;
      RETURN NULL;
    END $$`;
}

/** One statement, because every insert pays for it. It does what `add_row_count` does, and takes the same slots. */
function addCounts(table: string, { status, deleted_at }: CountedTable, sign: '' | '-', from: string): string {
  return `
    INSERT INTO row_counts AS known (table_name, status, slot, rows)
      SELECT '${table}', counts.status, ${OWN_SLOT}, counts.rows
        FROM (SELECT ${status ? 'status' : "''"} AS status, ${sign}count(*) AS rows
                FROM ${from} ${deleted_at ? 'WHERE deleted_at IS NULL' : ''} GROUP BY 1) AS counts
      ON CONFLICT ON CONSTRAINT row_counts_pkey DO UPDATE SET rows = known.rows + excluded.rows`;
}

/** A trigger for each row, but only for rows that change their group: most updates cost nothing. */
async function countChanges(database: QueryRunner, table: string, status: boolean, deleted: boolean): Promise<void> {
  const group = (row: string) => (status ? `${row}.status` : "''");
  const changed = [...(status ? ['status'] : []), ...(deleted ? ['deleted_at'] : [])];
  const isPresent = (row: string) => (deleted ? `${row}.deleted_at IS NULL` : 'true');
  await database.query(`
    CREATE FUNCTION ${table}_count_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF ${isPresent('OLD')} THEN PERFORM add_row_count('${table}', ${group('OLD')}, -1); END IF;
      IF ${isPresent('NEW')} THEN PERFORM add_row_count('${table}', ${group('NEW')}, 1); END IF;
      RETURN NULL;
    END $$`);
  const condition = changed.map((column) => `OLD.${column} IS DISTINCT FROM NEW.${column}`).join(' OR ');
  await database.query(
    `CREATE TRIGGER ${table}_count_changed AFTER UPDATE ON ${table}
        FOR EACH ROW WHEN (${condition}) EXECUTE FUNCTION ${table}_count_change()`,
  );
}

/**
 * Reverts {@link countRows} in `down()`, before or after the table is dropped: drops the triggers and the counts. Stop
 * all instances before: they would read the counts as 0.
 */
export async function uncountRows(database: QueryRunner, table: string): Promise<void> {
  for (const name of [`${table}_count`, `${table}_count_change`]) {
    await database.query(`DROP FUNCTION IF EXISTS ${name} CASCADE`);
  }
  await database.query('DELETE FROM row_counts WHERE table_name = $1', [table]);
}
