import type { ObjectLiteral } from 'typeorm';
import { isReadFromReplica } from '../replica/reading';
import { EDITION } from '../rows/counted-tables';
import type { Counted, Slice } from './list';
import { type Extent, Places, placesIn } from './places';
import { COUNTS, type PlacedList, PlacedStatement } from './placed-statement';
import { DEEP } from './read-plain-rows';

/** A slice in the order that the caller asks for. */
type DeepSlice = Required<Pick<Slice, 'direction' | 'limit' | 'offset' | 'weighs'>>;

/** So many rows may be added until the extent of what is known is read anew: a statement counts those that were added. */
const MOST_ADDED = 32;
/** A page's statement that counted more would not seem cheap for any values, and PostgreSQL would plan it each time. */
const COUNTED_FOR_PAGE = 2 * MOST_ADDED;
/** If more have been added, places are found anew. */
const COUNTED_FOR_EXTENT = 2_000;

const TOTAL = 'total of rows';
const EDITION_READ = 'edition of rows';
const LAST = 'last of rows';

/**
 * Reads a deep page of a counted list that is sorted by its ids. It begins at the place nearest to it that is known of an earlier
 * page: skipping rows costs most. The statement returns rows only if the place is still true. Otherwise they are found from the
 * beginning or the end, and their place is remembered.
 * @returns undefined if nothing was found: there is no such page, or its rows are not light
 */
export async function readPlaced<E extends ObjectLiteral & { id: number }>(
  list: PlacedList<E>,
  slice: DeepSlice,
): Promise<Counted<E[]> | undefined> {
  const { dataSource } = list.repository.manager;
  const lists = placesIn(dataSource);
  // Each server has editions of its own, and a replica may show the rows of a moment ago.
  const table = isReadFromReplica(dataSource) ? `${list.plain.table} of the replica` : list.plain.table;
  const places = lists.get(table);
  if (places) {
    const found = await readAtPlace(places, list, slice);
    if (found && found.total - places.extent.total < MOST_ADDED) return found;
    if (await extend(places, list)) return found ?? readAtPlace(places, list, slice);
    if (lists.get(table) === places) lists.delete(table);
    if (found) return found;
  }
  const found = await find(list, slice, places?.extent.total ?? (await list.total()));
  if (!found) return undefined;
  const { edition, total, last } = found;
  const others = lists.get(table);
  const isSame = others?.extent.edition === edition && others.extent.total === total;
  const own = isSame ? others : new Places({ edition, total, last });
  lists.set(table, own);
  learn(own, slice, found);
  return found;
}

/** Counts rows that were added among those that are known. @returns false if what is known is no longer true */
async function extend<E extends ObjectLiteral>(places: Places, list: PlacedList<E>): Promise<boolean> {
  const extent = await extended(places.extent, list);
  // Another request may have seen more of them.
  if (extent && extent.total > places.extent.total) places.extent = extent;
  return extent !== undefined;
}

async function readAtPlace<E extends ObjectLiteral & { id: number }>(
  places: Places,
  list: PlacedList<E>,
  slice: DeepSlice,
): Promise<Counted<E[]> | undefined> {
  const { extent } = places;
  const { first, end } = spanOf(slice, extent.total);
  if (first >= end) return undefined;
  const { backward, id, skipped } = places.wayTo(first, end);
  const statement = new PlacedStatement(list, slice);
  const from = id === undefined ? '' : ` AND id ${backward ? '<=' : '>='} ${statement.value(id)}`;
  // Rows that were added are in none of the positions from the beginning, and in all from the end.
  const isWhole =
    slice.direction === 'ASC' && slice.offset + slice.limit <= extent.total && !(backward && id === undefined);
  const isTrue = `${isStill(extent, statement, COUNTED_FOR_PAGE)}${isWhole ? '' : ` AND sum(rows) = ${statement.value(extent.total)}`}`;
  const limit = `(SELECT CASE WHEN ${isTrue} THEN ${statement.value(end - first)}::bigint ELSE 0 END FROM ${COUNTS})`;
  statement.add(TOTAL, `SELECT sum(rows)::bigint FROM ${COUNTS}`);
  const reach = skipped + end - first;
  const isUsual = isWhole && id !== undefined && reach < DEEP;
  const ids = { backward, from, limit, offset: statement.value(skipped), reach, isUsual };
  const rows = await statement.read<{ [TOTAL]: number }>(ids);
  if (rows.length < end - first) return undefined;
  const { [TOTAL]: total } = rows[0];
  const found = { rows: rows.map(({ [TOTAL]: _, ...row }) => list.plain.toEntity(row)), total };
  learn(places, slice, found);
  return found;
}

/**
 * SQL that is true if rows were only added since, behind the last one. Hidden rows count for the limit: a statement must not pass
 * over all of them. And without an order, the plan for any values would be to look for the added ones in the whole table.
 * @param most so many rows are counted
 */
function isStill({ edition, total, last }: Extent, statement: PlacedStatement<ObjectLiteral>, most: number): string {
  const { table, present = 'true' } = statement.plain;
  const added = `SELECT ${present} AS present FROM ${table} WHERE id > ${statement.value(last)} ORDER BY id LIMIT ${most}`;
  const number = `SELECT count(*) FILTER (WHERE present) FROM (${added}) AS added`;
  return `${EDITION} = ${statement.value(edition)} AND sum(rows) - ${statement.value(total)} = (${number})`;
}

/** The extent of the rows now, if what is known of them is still true. */
async function extended<E extends ObjectLiteral>(extent: Extent, list: PlacedList<E>): Promise<Extent | undefined> {
  const statement = new PlacedStatement(list);
  const text = `
    SELECT ${EDITION} AS "${EDITION_READ}", sum(rows)::bigint AS "${TOTAL}", (${statement.last}) AS "${LAST}"
      FROM ${COUNTS} HAVING ${isStill(extent, statement, COUNTED_FOR_EXTENT)}`;
  const [found] = await statement.run<Found>(text, true, true);
  return found && extentIn(found);
}

/** @param about the number of rows, which may be out of date: it tells which end is nearer */
async function find<E extends ObjectLiteral>(
  list: PlacedList<E>,
  slice: DeepSlice,
  about: number,
): Promise<(Counted<E[]> & Extent) | undefined> {
  const { offset, limit, direction } = slice;
  const isNearEnd = offset > about - offset - limit;
  const backward = isNearEnd !== (direction === 'DESC');
  const statement = new PlacedStatement(list, slice);
  const [skipped, size] = [offset, limit].map((number) => `${statement.value(number)}::bigint`);
  // The total may have changed since. All of the statement sees the same one.
  const counted = (text: string) => `(SELECT greatest(0, ${text})::bigint FROM ${COUNTS})`;
  const fromEnd = {
    limit: counted(`least(${size}, sum(rows) - ${skipped})`),
    offset: counted(`sum(rows) - ${skipped} - ${size}`),
  };
  statement.add(EDITION_READ, `SELECT ${EDITION} FROM ${COUNTS}`);
  statement.add(TOTAL, `SELECT sum(rows)::bigint FROM ${COUNTS}`);
  statement.add(LAST, statement.last);
  const part = isNearEnd ? fromEnd : { limit: size, offset: skipped };
  const found = await statement.read<Found>({ backward, from: '', reach: Infinity, isUsual: false, ...part });
  if (found.length === 0) return undefined;
  const rows = found.map(({ [TOTAL]: _total, [EDITION_READ]: _edition, [LAST]: _last, ...row }) =>
    list.plain.toEntity(row),
  );
  return { rows, ...extentIn(found[0]) };
}

interface Found {
  [EDITION_READ]: string;
  [TOTAL]: number;
  [LAST]: number;
}

const extentIn = (found: Found): Extent => ({ edition: found[EDITION_READ], total: found[TOTAL], last: found[LAST] });

/** All rows of a slice that is found are known: rows that were added come behind them. */
function learn<E extends { id: number }>(places: Places, slice: DeepSlice, { rows, total }: Counted<E[]>): void {
  const { first, end } = spanOf(slice, total);
  if (rows.length === end - first) places.learn(first, rows[slice.direction === 'ASC' ? 0 : rows.length - 1].id);
}

/** The positions of the rows of a slice, in ascending order. */
function spanOf({ direction, offset, limit }: DeepSlice, total: number): { first: number; end: number } {
  const end = Math.min(total, offset + limit);
  return direction === 'ASC' ? { first: offset, end } : { first: total - end, end: total - offset };
}
