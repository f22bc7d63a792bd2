import type { ObjectLiteral } from 'typeorm';
import { directionOf, largestItem, type ListQuery, pageSizeOf } from './list-query';
import { Page } from '../answers/page';
import type { List, Slice } from './list';
import { DEEP } from './read-plain-rows';

/** The page of a number, and how many items and pages there are. */
export async function numberedPage<E extends ObjectLiteral>(list: List<E>, query: ListQuery): Promise<Page<E>> {
  const { page = 0, fields } = query;
  const size = pageSizeOf(query);
  const options = { fields, largest: largestItem(query) };
  const slice = { direction: directionOf(query), limit: size, offset: page * size };
  const [data, total] = list.counted ? await readNearest(list, slice) : await readAndCount(list, slice);
  return new Page(data, { page, size, total, totalPages: Math.ceil(total / size) }, options);
}

async function readAndCount<E extends ObjectLiteral>(list: List<E>, slice: Slice): Promise<[E[], number]> {
  // A search has one connection.
  if (list.searches) return [await list.read(slice), await list.total()];
  return Promise.all([list.read(slice), list.total()]);
}

/**
 * A deep page in the second half is read from the end, backwards: skipping rows is what it costs, and it pays to know first from
 * which end fewer are to be skipped.
 */
async function readNearest<E extends ObjectLiteral>(
  list: List<E>,
  slice: Slice & { offset: number },
): Promise<[E[], number]> {
  if (slice.offset < DEEP) return readAndCount(list, slice);
  const total = await list.total();
  const after = total - slice.offset - slice.limit;
  if (slice.offset <= after) return [await list.read(slice), total];
  // Of the last page there is less than a whole one, and past the end nothing.
  const limit = Math.max(0, Math.min(slice.limit, total - slice.offset));
  const direction = slice.direction === 'ASC' ? 'DESC' : 'ASC';
  const rows = limit > 0 ? await list.read({ direction, limit, offset: Math.max(0, after) }) : [];
  return [[...rows].reverse(), total];
}
