import type { UntypedAnswer } from './call.js';

type Query = Record<string, unknown>;

/**
 * The items of all pages, each page read when the loop comes to it. By cursors, or by numbers in version 1.
 * @param read reads the page of a query
 */
export async function* itemsOf<Item>(
  read: (query: Query) => Promise<UntypedAnswer>,
  query: Query = {},
): AsyncGenerator<Item, void> {
  for (let next: Query | undefined = query; next;) {
    const { data, pagination }: UntypedAnswer = await read(next);
    yield* data as Item[];
    next = nextOf(query, next, pagination);
  }
}

/** A cursor belongs to its list, so the filters are sent with it. */
function nextOf(query: Query, last: Query, pagination: UntypedAnswer['pagination']): Query | undefined {
  const { next, page, totalPages } = pagination ?? {};
  if (typeof next === 'string' && next !== last.cursor) return { ...query, cursor: next };
  if (page !== undefined && totalPages !== undefined && page + 1 < totalPages) return { ...query, page: page + 1 };
  return undefined;
}
