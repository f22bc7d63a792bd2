import type { DataSource, EntityMetadata } from 'typeorm';
import { BatchedRead, keysOf } from './batched-read';
import { type CountedTable, SHARED_SLOTS } from './count-rows';
import { isKeptApart } from './kept-apart';
import { findSettledTables, settledTable } from './settled-counts';

const countedTables = new WeakMap<DataSource, Map<string, Omit<FoundTable, 'schema' | 'table'>>>();

/** The arguments of a trigger. Each one ends with a byte of 0. */
const ARGUMENTS = "string_to_array(encode(tgargs, 'escape'), '\\000')";

/** SQL for the tables that countRows() counts. The arguments of a trigger state what is counted. */
export const COUNTED_TABLES = `
  SELECT relnamespace::regnamespace::text AS schema, relname AS table,
         'status' = ANY (${ARGUMENTS}) AS status, 'deleted_at' = ANY (${ARGUMENTS}) AS deleted_at,
         relhassubclass AS divided
    FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
   WHERE tgname = relname || '_count_added' AND tgenabled <> 'D' AND pg_table_is_visible(pg_class.oid)`;

/** A row of {@link COUNTED_TABLES}. */
export interface FoundTable extends CountedTable {
  schema: string;
  table: string;
  /** Whether it has partitions, or other tables inherit from it. */
  divided: boolean;
}

/** Finds the tables once at the start. What is known of a table disappears together with its trigger or the table. */
export async function findCountedTables(database: DataSource): Promise<void> {
  const rows = await database.query<FoundTable[]>(COUNTED_TABLES);
  const tables = rows.map(({ schema, table, ...counted }) => [`${schema}.${table}`, counted] as const);
  countedTables.set(database, new Map(tables));
  if (rows.length > 0) await sweepCounts(database);
  await findSettledTables(database);
}

/**
 * Tidies up what is counted. A transaction whose slot is taken uses one of its backend's own (see the migration that makes
 * `row_counts`), and backends come and go: the slots of those that have ended become one of this transaction's. What nobody counts
 * any more, as a table was dropped without uncountRows(), goes. Waits for nobody: what is being written is left for the next start.
 */
async function sweepCounts(database: DataSource): Promise<void> {
  await database.query(
    `WITH unused AS (
       SELECT table_name, status, slot, rows, counted FROM row_counts
        CROSS JOIN LATERAL (
          SELECT EXISTS (SELECT FROM pg_trigger WHERE tgname = CAST(table_name || '_count_added' AS name))) AS known (counted)
        WHERE NOT counted OR (slot >= ${SHARED_SLOTS} AND slot - ${SHARED_SLOTS} NOT IN (SELECT pid FROM pg_stat_activity))
          FOR UPDATE OF row_counts SKIP LOCKED),
     removed AS (
       DELETE FROM row_counts AS counts USING unused
        WHERE (counts.table_name, counts.status, counts.slot) = (unused.table_name, unused.status, unused.slot))
     SELECT add_row_count(table_name, status, sum(rows)::bigint) FROM unused WHERE counted GROUP BY table_name, status`,
  );
}

/** True if {@link countedRows} knows the number of an entity's rows, for each status if `byStatus`. */
export function isCounted(database: DataSource, entity: EntityMetadata, byStatus: boolean): boolean {
  // A view, or one of several entities in a table, has fewer rows than the table.
  if (entity.tableType !== 'regular' || entity.inheritancePattern !== undefined) return false;
  // Some sessions may see fewer rows.
  if (isKeptApart(database, entity)) return false;
  const name = fullNameOf(database, entity);
  if (settledTable(database, entity.tableName)?.name === name) return !byStatus && !entity.deleteDateColumn;
  const counted = countedTables.get(database)?.get(name);
  if (!counted || (byStatus && !counted.status)) return false;
  // The counts must exclude deleted rows exactly if the entity hides them.
  return counted.deleted_at === (entity.deleteDateColumn !== undefined);
}

/** Whether {@link EDITION} tells when rows of a counted entity move. Rows of a part of a table may go, or to another part, unnoticed. */
export function tellsMoves(database: DataSource, entity: EntityMetadata): boolean {
  return countedTables.get(database)?.get(fullNameOf(database, entity))?.divided === false;
}

const fullNameOf = (database: DataSource, { schema, tableName }: EntityMetadata): string =>
  `${schema ?? database.driver.schema}.${tableName}`;

/**
 * SQL that is the same as long as no counted row has gone, moved or come back, as an aggregate of the counts of a table: between two
 * moments of one edition, rows have only been added. Each move gives its slot a number that none has had, and so does what tidies
 * up. Transactions may end in another order than their numbers have, so no number tells by itself which others were seen: the sum
 * of their hashes does. Another server, or a table that was restored, has other editions.
 */
export const EDITION =
  "concat_ws(' ', extract(epoch FROM pg_postmaster_start_time()), max(row_counts.tableoid), sum(hashint8extended(moved, 0)))";

interface Count {
  key: string;
  rows: number;
}

/** Separates table and status, whose names never contain it. In SQL: `chr(31)`. */
const SEPARATOR = '\u001f';

const counts = new BatchedRead<string, Count>(
  'read-row-counts',
  `SELECT key, sum(rows)::bigint AS rows
     FROM unnest(${keysOf('text')}) AS key
     JOIN row_counts ON table_name = split_part(key, chr(31), 1)
      AND (split_part(key, chr(31), 2) = '' OR status = split_part(key, chr(31), 2))
    GROUP BY key`,
  ({ key }) => key,
  { byReplica: true },
);

/** The number of rows of a counted table, or of those with a status. */
export async function countedRows(database: DataSource, table: string, status = ''): Promise<number> {
  const settled = settledTable(database, table);
  const count = settled ? settled.counts.read(database, table) : counts.read(database, table + SEPARATOR + status);
  return (await count)?.rows ?? 0;
}
