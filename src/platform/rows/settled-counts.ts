import type { DataSource, QueryRunner } from 'typeorm';
import { setTimeout as delay } from 'node:timers/promises';
import { seconds } from '../units';
import { BatchedRead, keysOf } from './batched-read';

/** Rows that one transaction counts: it keeps the retention waiting. */
const STEP = 50_000;
/** More than any number of a row. A range with two ends is expected to be small, so PostgreSQL reads it by the index. */
const ALL = Number.MAX_SAFE_INTEGER;
/** How long counting waits for writers that have begun before it, in milliseconds. */
const PATIENCE = seconds(1);
/** Milliseconds between two looks. */
const INTERVAL = 50;

/**
 * SQL for the transactions that write to a table: an INSERT locks it until its transaction ends, before its rows get their numbers. It
 * may get the number of the transaction itself only after those.
 */
const WRITERS = `
  SELECT coalesce(array_agg(virtualtransaction), '{}') AS writers FROM pg_locks
   WHERE locktype = 'relation' AND relation = $1::regclass AND mode = 'RowExclusiveLock' AND granted
     AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
const PREPARED = '-1/';

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
 * Counts the rows of a table on. Rows are numbered while their transactions run, so it notes the last number, and then waits until
 * all transactions have ended that write to the table by then: no row up to that number can come any more. If one runs on, or
 * another process has the count, it leaves the rows for the next time.
 *
 * Nothing of it is remembered by the process, because the numbers of a database may go back: a crash takes back those that nobody
 * has committed, and a standby that takes over may have less.
 * @param runner of one connection, outside of a transaction
 * @param isEnding whether the rest is left for the next time
 */
export async function countSettled(runner: QueryRunner, table: string, isEnding: () => boolean): Promise<void> {
  const { upTo, last } = await look(runner, table);
  if (upTo >= last || !(await waitForWriters(runner, table, isEnding))) return;
  let isLeft = true;
  while (isLeft && !isEnding()) isLeft = await countStep(runner, table, last);
}

/** How far a table is counted, and the last number of its rows. */
async function look(runner: QueryRunner, table: string): Promise<{ upTo: number; last: number }> {
  const [{ up_to, last }] = (await runner.query(
    `SELECT up_to, ${lastOf(runner, table)} AS last FROM settled_counts WHERE table_name = $1`,
    [table],
  )) as { up_to: number; last: number }[];
  return { upTo: up_to, last };
}

/** SQL for the last number. `last_value` of a sequence that has given none yet is the first one. */
const lastOf = ({ dataSource: { driver } }: QueryRunner, table: string): string =>
  `(SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM ${driver.escape(`${table}_id_seq`)})`;

/** @returns whether all transactions have ended that may have a row, with a number or not yet, when it is called */
async function waitForWriters(runner: QueryRunner, table: string, isEnding: () => boolean): Promise<boolean> {
  const end = performance.now() + PATIENCE;
  const writers = await writersOf(runner, table);
  let running = writers;
  while (isUnderWay(writers, running)) {
    if (isEnding() || performance.now() >= end) return false;
    await delay(INTERVAL);
    running = await writersOf(runner, table);
  }
  return true;
}

/** A transaction that is prepared for its commit goes on under another name. */
const isUnderWay = (writers: readonly string[], running: readonly string[]): boolean =>
  running.some((writer) => writers.includes(writer) || writer.startsWith(PREPARED));

async function writersOf(runner: QueryRunner, table: string): Promise<string[]> {
  const [{ writers }] = (await runner.query(WRITERS, [table])) as { writers: string[] }[];
  return writers;
}

/** @returns whether there is more to count */
async function countStep(runner: QueryRunner, table: string, last: number): Promise<boolean> {
  await runner.startTransaction('READ COMMITTED');
  try {
    const counted = await countInTransaction(runner, table, last);
    await runner.commitTransaction();
    return counted !== undefined && counted < last;
  } catch (error) {
    await runner.rollbackTransaction();
    throw error;
  }
}

/** @returns up to which number is counted now; undefined if somebody else has the count, or the numbers have gone back */
async function countInTransaction(runner: QueryRunner, table: string, last: number): Promise<number | undefined> {
  await runner.query("SET LOCAL lock_timeout = '1s'");
  // Locked first: the next statement then sees what those have removed who have had the lock.
  const [known] = (await runner.query(
    `SELECT up_to FROM settled_counts
      WHERE table_name = $1 AND up_to < $2 AND ${lastOf(runner, table)} >= $2 FOR UPDATE SKIP LOCKED`,
    [table, last],
  )) as { up_to: number }[];
  if (!known) return undefined;
  const name = runner.dataSource.driver.escape(table);
  const [[{ up_to }]] = (await runner.query(
    `UPDATE settled_counts SET rows = settled_counts.rows + step.rows,
            up_to = CASE WHEN step.rows < ${STEP} THEN $3::bigint ELSE step.last END
       FROM (SELECT count(*) AS rows, max(id) AS last
               FROM (SELECT id FROM ${name} WHERE id > $2 AND id <= $3 ORDER BY id LIMIT ${STEP}) AS next) AS step
      WHERE table_name = $1 RETURNING up_to`,
    [table, known.up_to, last],
  )) as [{ up_to: number }[], number];
  return up_to;
}
