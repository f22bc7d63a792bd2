import type { ObjectLiteral, Repository } from 'typeorm';
import type { Cursors, Position } from './cursor';
import { directionOf, largestItem, type ListQuery, pageSizeOf, sortOf } from './list-query';
import { type CursorPagination, Page } from '../answers/page';
import type { FoundPage, List, Rows, Slice } from './list';
import { readManyAndCount } from './numbered-page';
import { type Direction, rangesAfter } from './ranges';
import type { PageRoom } from './row-sizes';
import { sortValueOf } from './sort-value';

type Row = ObjectLiteral & { id: number };
/** The rows of a page, and the number of all rows if the caller asks for it. */
interface Found<E extends Row> extends Pick<Position, 'isOfMany'> {
  rows: Rows<E>;
  total?: number;
}

/**
 * Reads the page of a cursor. Every depth costs the same: the statement starts in the index at the item's position, and
 * nothing is counted unless the caller asks for it. Concurrent inserts and deletes move no item from one page to another.
 */
export async function cursorPage<E extends Row>(
  repository: Repository<E>,
  list: List<E>,
  query: ListQuery,
  { position, seal }: Cursors,
): Promise<FoundPage<E>> {
  const size = pageSizeOf(query);
  const backwards = position?.backwards ?? false;
  const direction = backwards ? opposite(directionOf(query)) : directionOf(query);
  const room: PageRoom = { full: false };
  const ranges = rangesAfter(repository.metadata, sortOf(query), direction, position);
  // One item more than requested shows whether there is another page.
  const slice = { direction, limit: size + 1, room, ranges };
  const { rows, total, isOfMany } = await read(list, query, slice, position);
  return { rows, page: (found) => pageOf(found, query, { position, seal }, { isFull: room.full, total, isOfMany }) };
}

/**
 * Reads a slice. What few rows have is looked for in the search index: PostgreSQL expects the first page of a word soon, so it would
 * walk in the order of the list, and through a whole table for a word that no row has.
 */
async function read<E extends Row>(
  list: List<E>,
  query: ListQuery,
  slice: Slice,
  position: Position | undefined,
): Promise<Found<E>> {
  const few = list.searches && !position?.isOfMany ? await list.few(slice) : undefined;
  if (few) return { rows: few.rows, total: query.total ? few.total : undefined };
  const isOfMany = list.searches;
  return query.total
    ? { ...(await readManyAndCount(list, slice)), isOfMany }
    : { rows: await list.read(slice), isOfMany };
}

/** What is known of the list beside the rows of the page. */
interface Known extends Pick<Position, 'isOfMany'> {
  /** Whether the page has no room for more rows. */
  isFull: boolean;
  /** The number of all rows, if they were counted. */
  total?: number;
}

function pageOf<E extends Row>(
  found: E[],
  query: ListQuery,
  { position, seal }: Cursors,
  { isFull, total, isOfMany }: Known,
): Page<E> {
  const size = pageSizeOf(query);
  const backwards = position?.backwards ?? false;
  const more = found.length > size || isFull;
  const items = found.slice(0, size);
  const at = (item: E | undefined, backwards: boolean) =>
    seal({ ...positionOf(item, query, position!, backwards), isOfMany });
  const paginationOf = (count: number): CursorPagination => {
    const goesOn = more || count < items.length ? at(items[count - 1], backwards) : null;
    const back = position ? at(items[0], !backwards) : null;
    const [next, previous] = backwards ? [back, goesOn] : [goesOn, back];
    return total === undefined ? { size, next, previous } : { size, next, previous, total };
  };
  const { fields } = query;
  const beginning = { backwards, paginationOf };
  const pageOptions = { fields, largest: largestItem(query), beginning };
  return new Page(backwards ? [...items].reverse() : items, paginationOf(items.length), pageOptions);
}

/** The cursor next to `item`. An empty page returns its own start, so that `previous` leads back to it. */
function positionOf<E extends Row>(
  item: E | undefined,
  query: ListQuery,
  start: Position,
  backwards: boolean,
): Position {
  if (item) return { value: sortValueOf(item, sortOf(query)), id: item.id, backwards };
  const upwards = (directionOf(query) === 'ASC') === backwards;
  return { ...start, id: start.id + (upwards ? 1 : -1), backwards };
}

function opposite(direction: Direction): Direction {
  return direction === 'ASC' ? 'DESC' : 'ASC';
}
