import type { ObjectLiteral, Repository } from 'typeorm';
import type { Comparison } from '../input/comparison';
import type { PlainEntity } from '../rows/plain-entity';
import { sharedRead } from '../rows/shared-read';
import { nameOf } from '../transactions/statement-names';
import { wantsDeleted } from './deleted-rows';
import { sharedLane } from './list-lane';
import { type ListQuery, sortOf, WORK } from './list-query';
import type { Slice } from './list';
import { plainCondition } from './ranges';
import { columnsFor, type ReadOptions } from './read-rows';
import { bytesOfColumns, LIGHT_BYTES } from './row-sizes';

/** From this many skipped rows on a page is expensive. */
export const DEEP = 1_000;
/** Each is four times the one before. A page that reaches farther is planned each time: it takes longer to read than to plan. */
const BOUNDS = [64, 256, 1_024];
/** A name that no column has. */
const BYTES = '"bytes of row"';
/** From this many skipped rows on it pays to find the ids first, in the index alone. */
const IDS_FIRST_FROM = 100;

/** The conditions of a list without a search: values of columns. */
export type Equal = [column: string, value: unknown][];

/**
 * Reads the rows of a list whose conditions are values of columns. The result is that of readRows(). PostgreSQL plans
 * the statement once, and concurrent requests for the same page share it. TypeORM's query building and hydration take
 * four times as long as all the rest.
 * @returns undefined if the slice weighs, and nothing is light there: there may be large rows, or none at all
 */
export async function readPlainRows<E extends ObjectLiteral>(
  repository: Repository<E>,
  plain: PlainEntity<E>,
  { equal, compared }: { equal: Equal; compared: Comparison[] },
  query: ListQuery,
  { always = [] }: ReadOptions<E>,
  { direction, limit, offset = 0, ranges = [], weighs = false }: Slice,
): Promise<E[] | undefined> {
  const { table } = plain;
  const ofDeleted = wantsDeleted(query);
  const presence = ofDeleted ? plain.deleted : plain.present;
  const wanted = columnsFor(repository, query, always);
  const columns = plain.select(wanted);
  const order = `ORDER BY ${plain.column(sortOf(query))} ${direction}, id ${direction}`;
  const conditions = equal.map(([column], index) => `${plain.column(column)} = $${index + 3}`);
  const values: unknown[] = [limit, offset, ...equal.map(([, value]) => value)];
  for (const one of compared) {
    // PostgreSQL refuses a value that no condition uses.
    if (one.value !== undefined) values.push(one.value);
    conditions.push(one.condition(plain.column(one.attribute), `$${values.length}`));
  }
  for (const range of ranges) conditions.push(plainCondition(range, (name) => plain.column(name), values));
  if (presence) conditions.unshift(presence);
  const where = conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : '';
  const selective = equal.length + compared.length + Number(ofDeleted);
  const page = `${pageRows(`${table} ${where}`, order, selective > 0 ? Infinity : offset + limit)} ${order} LIMIT $1 OFFSET $2`;
  const found =
    offset < IDS_FIRST_FROM ? `FROM ${page}` : `FROM ${table} WHERE id = ANY(ARRAY(SELECT id FROM ${page})) ${order}`;
  const bytes = weighs ? bytesOfColumns(repository.metadata, wanted) : '0';
  const text = selected(columns, found, bytes, order);
  // Without a name: there are too many combinations of `fields` or filters to keep a plan of each on each connection.
  const name = query.fields || compared.length > 0 ? undefined : nameOf(text);
  const { dataSource } = repository.manager;
  const statement = { name, text, values };
  const lane = isGlance(selective, offset) ? undefined : sharedLane(dataSource, query[WORK]);
  const rows = await sharedRead<E>(dataSource, statement, lane);
  if (weighs && rows.length === 0) return undefined;
  return rows.map((row) => plain.toEntity(row));
}

/**
 * The rows from which a page is cut. PostgreSQL keeps the plan of a named statement only if it seems no dearer than a plan for the
 * values at hand, and of an unknown LIMIT it expects a tenth of all rows. So it would plan each page anew, which takes as long as
 * to read it. With a bound in the text that is at most four times as far as the page reaches, the kept plan seems cheaper. Rows
 * that are selected by a value have no bound: which index is the right one for them depends on the value.
 * @param reach how many rows are skipped and read
 */
export function pageRows(rows: string, order: string, reach: number): string {
  const bound = BOUNDS.find((one) => one >= reach);
  return bound === undefined ? rows : `(SELECT * FROM ${rows} ${order} LIMIT ${bound}) AS page`;
}

/** The statement that reads what was found. It returns either all rows or none if they must be light. @param bytes '0' if they need not */
export function selected(columns: string, found: string, bytes: string, order: string): string {
  if (bytes === '0') return `SELECT ${columns} ${found}`;
  const rows = `SELECT *, ${bytes} AS ${BYTES} ${found}`;
  const isLight = `(SELECT sum(${BYTES}) FROM found) <= ${LIGHT_BYTES}`;
  return `WITH found AS MATERIALIZED (${rows}) SELECT ${columns} FROM found WHERE ${isLight} ${order}`;
}

/**
 * Whether the rows stand at the beginning of an index. Those that have some value may be the last ones of the order, behind
 * all others: which index PostgreSQL takes is its guess.
 */
const isGlance = (selective: number, offset: number): boolean => selective === 0 && offset < DEEP;
