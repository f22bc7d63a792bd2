import type { DataSource, EntityMetadata } from 'typeorm';
import { BatchedRead } from './batched-read';
import type { CountedTable } from './count-rows';
import { isKeptApart } from './kept-apart';

const countedTables = new WeakMap<DataSource, Map<string, CountedTable>>();

/** The arguments of a trigger, each of which ends with a byte of 0. */
const ARGUMENTS = "string_to_array(encode(tgargs, 'escape'), '\\000')";

/**
 * Asks the database which tables countRows() has counted, and how: once, so that no list has to say or to ask it. The
 * arguments of the trigger say it, so it is gone with the trigger, and with the table.
 */
export async function findCountedTables(database: DataSource): Promise<void> {
  const rows = await database.query<({ table: string } & CountedTable)[]>(
    `SELECT relnamespace::regnamespace::text || '.' || relname AS table,
            'status' = ANY (${ARGUMENTS}) AS status, 'deleted_at' = ANY (${ARGUMENTS}) AS deleted_at
       FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
      WHERE tgname = relname || '_count_added' AND tgenabled <> 'D' AND pg_table_is_visible(pg_class.oid)`,
  );
  countedTables.set(database, new Map(rows.map(({ table, ...counted }) => [table, counted])));
}

/** Whether {@link countedRows} knows how many rows of an entity there are, of each status if that is asked. */
export function isCounted(database: DataSource, entity: EntityMetadata, byStatus: boolean): boolean {
  // A view, or one of several entities in a table, has fewer rows than that.
  if (entity.tableType !== 'regular' || entity.inheritancePattern !== undefined) return false;
  // Of these a session may see less.
  if (isKeptApart(database, entity)) return false;
  const counted = countedTables.get(database)?.get(`${entity.schema ?? database.driver.schema}.${entity.tableName}`);
  if (!counted || (byStatus && !counted.status)) return false;
  // Counts that have deleted rows in them, of an entity that hides those, are of no use, nor the other way round.
  return counted.deleted_at === (entity.deleteDateColumn !== undefined);
}

interface Count {
  key: string;
  rows: number;
}

/** Neither a table nor a status has it in its name; `chr(31)` in SQL. */
const SEPARATOR = '\u001f';

const counts = new BatchedRead<string, Count>(
  'read-row-counts',
  `SELECT key, sum(rows)::bigint AS rows
     FROM unnest($1::text[]) AS key
     JOIN row_counts ON table_name = split_part(key, chr(31), 1)
      AND (split_part(key, chr(31), 2) = '' OR status = split_part(key, chr(31), 2))
    GROUP BY key`,
  ({ key }) => key,
);

/** How many rows a counted table has, all of them or those of a status. */
export async function countedRows(database: DataSource, table: string, status = ''): Promise<number> {
  return (await counts.read(database, table + SEPARATOR + status))?.rows ?? 0;
}
