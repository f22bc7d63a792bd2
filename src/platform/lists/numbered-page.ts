import type { ObjectLiteral } from 'typeorm';
import { directionOf, largestItem, type ListQuery, pageSizeOf } from './list-query';
import { Page } from '../answers/page';
import type { Counted, FoundPage, List, Rows, Slice } from './list';
import { DEEP } from './read-plain-rows';

/** Reads a page by its number, and counts items and pages. */
export async function numberedPage<E extends ObjectLiteral>(list: List<E>, query: ListQuery): Promise<FoundPage<E>> {
  const { page = 0, fields } = query;
  const size = pageSizeOf(query);
  const options = { fields, largest: largestItem(query) };
  const slice = { direction: directionOf(query), limit: size, offset: page * size };
  const found: Nearest<E> = await (list.counted ? readNearest(list, slice) : readAndCount(list, slice));
  const { rows, total, reversed } = found;
  const pagination = { page, size, total, totalPages: Math.ceil(total / size) };
  return { rows, page: (data) => new Page(reversed ? [...data].reverse() : data, pagination, options) };
}

interface Nearest<E> extends Counted<Rows<E>> {
  /** True if the last row comes first. */
  reversed?: boolean;
}

/** Reads a slice of a list, and counts the list. */
async function readAndCount<E extends ObjectLiteral>(list: List<E>, slice: Slice): Promise<Counted<Rows<E>>> {
  return (list.searches ? await list.few(slice) : undefined) ?? readManyAndCount(list, slice);
}

/** The same for a list that is not searched, or whose search has found many rows. */
export async function readManyAndCount<E extends ObjectLiteral>(
  list: List<E>,
  slice: Slice,
): Promise<Counted<Rows<E>>> {
  // A search has only one connection.
  if (list.searches) return { rows: await list.read(slice), total: await list.total() };
  const [rows, total] = await Promise.all([list.read(slice), list.total()]);
  return { rows, total };
}

/**
 * Reads a deep page in the second half of the list backwards from the end: skipping rows costs most, so the nearer end
 * is found first.
 */
async function readNearest<E extends ObjectLiteral>(
  list: List<E>,
  slice: Slice & { offset: number },
): Promise<Nearest<E>> {
  if (slice.offset < DEEP) return readAndCount(list, slice);
  const placed = await list.placed(slice);
  if (placed) return placed;
  const total = await list.total();
  const after = total - slice.offset - slice.limit;
  if (slice.offset <= after) return { rows: await list.read(slice), total };
  // The last page may have fewer rows. Past the end there are none.
  const limit = Math.max(0, Math.min(slice.limit, total - slice.offset));
  const direction = slice.direction === 'ASC' ? 'DESC' : 'ASC';
  const rows = limit > 0 ? await list.read({ direction, limit, offset: Math.max(0, after) }) : [];
  return { rows, total, reversed: true };
}
