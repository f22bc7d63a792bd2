import type { ObjectLiteral } from 'typeorm';
import { directionOf, largestItem, type ListQuery, pageSizeOf } from './list-query';
import { Page } from '../answers/page';
import type { FoundPage, List, Rows, Slice } from './list';
import { DEEP } from './read-plain-rows';

/** Reads a page by its number, and counts items and pages. */
export async function numberedPage<E extends ObjectLiteral>(list: List<E>, query: ListQuery): Promise<FoundPage<E>> {
  const { page = 0, fields } = query;
  const size = pageSizeOf(query);
  const options = { fields, largest: largestItem(query) };
  const slice = { direction: directionOf(query), limit: size, offset: page * size };
  const { rows, total, reversed } = list.counted ? await readNearest(list, slice) : await readAndCount(list, slice);
  const pagination = { page, size, total, totalPages: Math.ceil(total / size) };
  return { rows, page: (data) => new Page(reversed ? [...data].reverse() : data, pagination, options) };
}

export interface Counted<E> {
  rows: Rows<E>;
  total: number;
  /** True if the last row comes first. */
  reversed: boolean;
}

/** Reads a slice of a list, and counts the list. */
export async function readAndCount<E extends ObjectLiteral>(list: List<E>, slice: Slice): Promise<Counted<E>> {
  if (list.searches) {
    const few = await list.few(slice);
    // A search has only one connection.
    const { rows, total } = few ?? { rows: await list.read(slice), total: await list.total() };
    return { rows, total, reversed: false };
  }
  const [rows, total] = await Promise.all([list.read(slice), list.total()]);
  return { rows, total, reversed: false };
}

/**
 * Reads a deep page in the second half of the list backwards from the end: skipping rows costs most, so the nearer end
 * is found first.
 */
async function readNearest<E extends ObjectLiteral>(
  list: List<E>,
  slice: Slice & { offset: number },
): Promise<Counted<E>> {
  if (slice.offset < DEEP) return readAndCount(list, slice);
  const placed = await list.placed(slice);
  if (placed) return { ...placed, reversed: false };
  const total = await list.total();
  const after = total - slice.offset - slice.limit;
  if (slice.offset <= after) return { rows: await list.read(slice), total, reversed: false };
  // The last page may have fewer rows. Past the end there are none.
  const limit = Math.max(0, Math.min(slice.limit, total - slice.offset));
  const direction = slice.direction === 'ASC' ? 'DESC' : 'ASC';
  const rows = limit > 0 ? await list.read({ direction, limit, offset: Math.max(0, after) }) : [];
  return { rows, total, reversed: true };
}
