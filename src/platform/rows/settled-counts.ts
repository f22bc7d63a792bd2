import type { DataSource, EntityManager } from 'typeorm';
import { setTimeout as delay } from 'node:timers/promises';
import { seconds } from '../units';
import { BatchedRead, keysOf } from './batched-read';
import { areUnderWay, lastNumberOf, WRITERS, type Writers } from './table-writers';

/** Rows that one transaction counts: it keeps the retention waiting. */
const STEP = 50_000;
/** More than any number of a row. A range with two ends is expected to be small, so PostgreSQL reads it by the index. */
const ALL = Number.MAX_SAFE_INTEGER;
/** How long counting waits for writers that have begun before it, in milliseconds. */
const PATIENCE = seconds(1);
/** Milliseconds between two looks. */
const INTERVAL = 50;

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
        SELECT count(*) FROM ${table} AS later WHERE later.id > up_to AND later.id <= up_to + ${ALL}) AS rows
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
 * @param isEnding whether the rest is left for the next time
 */
export async function countSettled(database: DataSource, table: string, isEnding: () => boolean): Promise<void> {
  const { upTo, last } = await look(database, table);
  if (upTo >= last || !(await waitForWriters(database, table, isEnding))) return;
  let isLeft = true;
  while (isLeft && !isEnding()) {
    isLeft = await database.transaction('READ COMMITTED', (manager) => countStep(manager, table, last));
  }
}

/** How far a table is counted, and the last number of its rows. */
async function look(database: DataSource, table: string): Promise<{ upTo: number; last: number }> {
  const [{ up_to, last }] = await database.query<{ up_to: number; last: number }[]>(
    `SELECT up_to, ${lastNumberOf(table)} AS last FROM settled_counts WHERE table_name = $1`,
    [table],
  );
  return { upTo: up_to, last };
}

/** @returns whether all transactions have ended that may have a row, with a number or not yet, when it is called */
async function waitForWriters(database: DataSource, table: string, isEnding: () => boolean): Promise<boolean> {
  const end = performance.now() + PATIENCE;
  const writers = await writersOf(database, table);
  let running = writers;
  while (areUnderWay(writers, running)) {
    if (isEnding() || performance.now() >= end) return false;
    await delay(INTERVAL);
    running = await writersOf(database, table);
  }
  return true;
}

async function writersOf(database: DataSource, table: string): Promise<string[]> {
  const [{ writers }] = await database.query<Writers[]>(WRITERS, [table]);
  return writers;
}

/** @returns whether there is more to count: not if somebody else has the count, or the numbers have gone back */
async function countStep(manager: EntityManager, table: string, last: number): Promise<boolean> {
  await manager.query("SET LOCAL lock_timeout = '1s'");
  // Locked first: the next statement then sees what those have removed who have had the lock.
  const [known] = await manager.query<{ up_to: number }[]>(
    `SELECT up_to FROM settled_counts
      WHERE table_name = $1 AND up_to < $2 AND ${lastNumberOf(table)} >= $2 FOR UPDATE SKIP LOCKED`,
    [table, last],
  );
  if (!known) return false;
  const [[{ up_to }]] = await manager.query<[{ up_to: number }[], number]>(
    `UPDATE settled_counts SET rows = settled_counts.rows + step.rows,
            up_to = CASE WHEN step.rows < ${STEP} THEN $3::bigint ELSE step.last END
       FROM (SELECT count(*) AS rows, max(id) AS last
               FROM (SELECT id FROM ${table} WHERE id > $2 AND id <= $3 ORDER BY id LIMIT ${STEP}) AS next) AS step
      WHERE table_name = $1 RETURNING up_to`,
    [table, known.up_to, last],
  );
  return up_to < last;
}
