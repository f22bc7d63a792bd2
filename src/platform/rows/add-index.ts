import type { QueryRunner } from 'typeorm';

export interface AddIndexOptions {
  /** Whether no two rows may have the same values. Default: false */
  unique?: boolean;
}

/**
 * For a migration with `transaction = false`: makes an index on a table that others write meanwhile. An attempt that failed
 * leaves an index that PostgreSQL doesn't use; the next attempt makes it anew. An index that is there stays.
 * @param definition such as `ON parcels (due_at, id)`
 * @throws {Error} in a transaction
 */
export async function addIndex(
  database: QueryRunner,
  name: string,
  definition: string,
  { unique = false }: AddIndexOptions = {},
): Promise<void> {
  if (database.isTransactionActive) {
    throw new Error(
      `addIndex() makes ${name} outside of a transaction: write \`transaction = false\` into the migration`,
    );
  }
  const sql = 'SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = to_regclass($1)';
  const [found] = (await database.query(sql, [name])) as { valid: boolean }[];
  if (found?.valid) return;
  await withoutLockTimeout(database, async () => {
    if (found) await database.query(`DROP INDEX CONCURRENTLY ${name}`);
    await database.query(`CREATE ${unique ? 'UNIQUE ' : ''}INDEX CONCURRENTLY ${name} ${definition}`);
  });
}

/** For a migration: drops an index, without keeping statements of others waiting if the migration has no transaction. */
export async function dropIndex(database: QueryRunner, name: string): Promise<void> {
  await database.query(`DROP INDEX ${database.isTransactionActive ? '' : 'CONCURRENTLY '}IF EXISTS ${name}`);
}

/** The statement waits for transactions of others, and nobody waits for it. */
async function withoutLockTimeout(database: QueryRunner, work: () => Promise<void>): Promise<void> {
  const [{ limit }] = (await database.query("SELECT current_setting('lock_timeout') AS limit")) as { limit: string }[];
  await database.query('SET lock_timeout = 0');
  try {
    await work();
  } finally {
    await database.query(`SET lock_timeout = '${limit}'`);
  }
}
