import type { DataSource, EntityManager } from 'typeorm';
import { BatchedRead, keysOf } from './batched-read';

/** Numbers that one transaction counts. */
const STEP = 1_000_000;
/** More than any number of a row. A range with two ends is expected to be small, so PostgreSQL reads it by the index. */
const ALL = Number.MAX_SAFE_INTEGER;

/**
 * SQL for the tables whose rows are numbered, never changed, and counted up to a number by {@link countSettled}. They have a trigger
 * that takes off what is removed.
 */
const SETTLED_TABLES = `
  SELECT relnamespace::regnamespace::text || '.' || relname AS name, relname AS table
    FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
   WHERE tgname = relname || '_count_settled' AND tgenabled <> 'D' AND pg_table_is_visible(pg_class.oid)`;

interface Count {
  key: string;
  rows: number;
}

interface SettledTable {
  /** With its schema. */
  name: string;
  /** Reads the number of its rows, by the name of the table. */
  counts: BatchedRead<string, Count>;
}

const settledTables = new WeakMap<DataSource, Map<string, SettledTable>>();

/** Finds the tables once at the start. */
export async function findSettledTables(database: DataSource): Promise<void> {
  const found = await database.query<{ name: string; table: string }[]>(SETTLED_TABLES);
  const tables = found.map(({ name, table }) => [table, { name, counts: countsOf(database, table) }] as const);
  settledTables.set(database, new Map(tables));
}

/** Undefined for a table that isn't counted so. */
export const settledTable = (database: DataSource, table: string): SettledTable | undefined =>
  settledTables.get(database)?.get(table);

/** The rows that are counted already, and those after them: in one statement, so that none is missed or counted twice. */
function countsOf(database: DataSource, table: string): BatchedRead<string, Count> {
  return new BatchedRead(
    `read-settled-count-${table}`,
    `SELECT key, rows + (
        SELECT count(*) FROM ${database.driver.escape(table)} AS later WHERE later.id > up_to AND later.id <= up_to + ${ALL}) AS rows
       FROM unnest(${keysOf('text')}) AS key JOIN settled_counts ON table_name = key`,
    ({ key }) => key,
    { byReplica: true },
  );
}

/**
 * Counts the rows of a table up to a number. Several processes may do so at once: one of them counts, and the others leave it to that one.
 * @param upTo every row up to it is committed, or never will be
 * @param isEnding whether the rest is left for another time
 */
export async function countSettled(
  database: DataSource,
  table: string,
  upTo: number,
  isEnding: () => boolean,
): Promise<void> {
  let isLeft = true;
  while (isLeft && !isEnding())
    isLeft = await database.transaction('READ COMMITTED', (manager) => countStep(manager, table, upTo));
}

/** @returns whether there is more to count */
async function countStep(manager: EntityManager, table: string, upTo: number): Promise<boolean> {
  // Locked first: the next statement then sees what those have removed who have had the lock.
  const [known] = await manager.query<{ counted: number }[]>(
    'SELECT up_to AS counted FROM settled_counts WHERE table_name = $1 AND up_to < $2 FOR UPDATE SKIP LOCKED',
    [table, upTo],
  );
  if (!known) return false;
  const counted = Number(known.counted);
  const next = Math.min(upTo, counted + STEP);
  await manager.query(
    `UPDATE settled_counts SET up_to = $3,
            rows = rows + (SELECT count(*) FROM ${manager.dataSource.driver.escape(table)} WHERE id > $2 AND id <= $3)
      WHERE table_name = $1`,
    [table, counted, next],
  );
  return next < upTo;
}
