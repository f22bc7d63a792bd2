import type { ObjectLiteral, Repository } from 'typeorm';
import type { Cursors, Position } from './cursor';
import { directionOf, type ListQuery, pageSizeOf, sortOf } from './list-query';
import { Page } from './page';
import type { List } from './paginate';
import { type Direction, readRows, type ReadOptions, ROW, type Slice } from './read-rows';
import { placeOf } from './sort-place';

type Row = ObjectLiteral & { id: number };
type Condition = [text: string, parameters?: object];

/**
 * The page that a cursor leads to. Any depth costs the same: it starts in the index at the item's place, and nothing is
 * counted. What others insert and delete meanwhile moves no item from one page to another.
 */
export async function cursorPage<E extends Row>(
  repository: Repository<E>,
  list: List<E>,
  query: ListQuery,
  options: ReadOptions<E>,
  { position, seal }: Cursors,
): Promise<Page<E>> {
  const size = pageSizeOf(query);
  const backwards = position?.backwards ?? false;
  const direction = backwards ? opposite(directionOf(query)) : directionOf(query);
  // One more than asked for tells whether there is more.
  const rows: E[] = [];
  for (const range of rangesAfter(repository, sortOf(query), direction, position)) {
    if (rows.length > size) break;
    const slice = { direction, limit: size + 1 - rows.length };
    rows.push(...(await readRange(repository, list, range, query, options, slice)));
  }
  const more = rows.length > size;
  const items = backwards ? rows.slice(0, size).reverse() : rows.slice(0, size);
  const at = (item: E | undefined, backwards: boolean) => seal(positionOf(item, query, position!, backwards));
  return new Page(
    items,
    {
      size,
      next: more || backwards ? at(items.at(-1), false) : null,
      previous: backwards ? (more ? at(items[0], true) : null) : position ? at(items[0], true) : null,
    },
    query.fields,
  );
}

function readRange<E extends Row>(
  repository: Repository<E>,
  list: List<E>,
  range: Condition | undefined,
  query: ListQuery,
  options: ReadOptions<E>,
  slice: Slice,
): Promise<E[]> {
  if (!range) return list.read(slice);
  return readRows(repository, list.matching().andWhere(...(range as [string, ObjectLiteral])), query, options, slice);
}

/** Next to an item; on a page without any, where that page began, so that the way back begins with what was there. */
function positionOf<E extends Row>(
  item: E | undefined,
  query: ListQuery,
  start: Position,
  backwards: boolean,
): Position {
  if (item) return { value: placeOf(item, sortOf(query)), id: item.id, backwards };
  const upwards = (directionOf(query) === 'ASC') === backwards;
  return { ...start, id: start.id + (upwards ? 1 : -1), backwards };
}

/**
 * The conditions for what comes after a position, each a range of the index (column, id); undefined stands for all.
 * PostgreSQL sorts null after everything else, or before it when it sorts downwards.
 */
function rangesAfter<E extends Row>(
  { metadata }: Repository<E>,
  sort: string,
  direction: Direction,
  position: Position | undefined,
): (Condition | undefined)[] {
  if (!position) return [undefined];
  const { value, id } = position;
  const beyond = direction === 'ASC' ? '>' : '<';
  const column = `${ROW}.${sort}`;
  if (sort === 'id') return [[`${ROW}.id ${beyond} :id`, { id }]];
  const sameNull: Condition = [`${column} IS NULL AND ${ROW}.id ${beyond} :id`, { id }];
  const after: Condition = [`(${column}, ${ROW}.id) ${beyond} (:value, :id)`, { value, id }];
  if (!metadata.findColumnWithPropertyName(sort)?.isNullable) return [after];
  if (direction === 'ASC') return value === null ? [sameNull] : [after, [`${column} IS NULL`]];
  return value === null ? [sameNull, [`${column} IS NOT NULL`]] : [after];
}

function opposite(direction: Direction): Direction {
  return direction === 'ASC' ? 'DESC' : 'ASC';
}
