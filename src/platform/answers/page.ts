import type { Request } from 'express';
import { pathsOf } from '../routing/version';
import { project } from '../input/fields';

/** The attributes of either kind of pagination, in the order of the alphabet. */
const NUMBERED = 'page,size,total,totalPages';
const WITH_CURSORS = 'next,previous,size';

/** Where a numbered page stands among the others. */
export interface Pagination {
  /** Zero-based. */
  page: number;
  size: number;
  /** Of all pages together. */
  total: number;
  totalPages: number;
}

/** Where a page that a cursor leads to stands: between these. */
export interface CursorPagination {
  size: number;
  /** Leads to the items after these; null when there are none. */
  next: string | null;
  /** Leads to the items before these; null when there are none. */
  previous: string | null;
}

/** The beginning of a page of cursors, in the direction in which it was read, and how the list goes on from there. */
interface Beginning {
  /** Whether it was read from its last item on. */
  backwards: boolean;
  /** Where a page of its first so many items stands. */
  paginationOf: (count: number) => CursorPagination;
}

export interface PageOptions {
  /** What the caller asked to see of its items. Default: all of them */
  fields?: string[];
  /** How many bytes one item can take at most. Default: any number */
  largest?: number;
  /** How it can be made shorter. Default: not at all, as the page of a number */
  beginning?: Beginning;
}

/**
 * One page of a collection, and what the caller asked to see of its items. Its JSON is what the envelope shows of it, so that
 * a copy of it, as a cache or a serializer makes one, is still told for a page; see pageIn().
 */
export class Page<T extends object> {
  readonly #options: PageOptions;

  constructor(
    readonly data: T[],
    readonly pagination: Pagination | CursorPagination,
    options: PageOptions = {},
  ) {
    this.#options = options;
  }

  /** The same page of representations, reduced to the `fields` asked for. */
  map<U extends object>(represent: (item: T) => U): Page<object> {
    const { fields } = this.#options;
    const data = this.data.map((item) => (fields ? project(represent(item), fields) : represent(item)));
    return this.withItems(data);
  }

  /** The same page with other items in the place of its own. */
  withItems(data: object[]): Page<object> {
    return new Page<object>(data, this.pagination, this.#options);
  }

  /** How many bytes it can take at most. */
  get largest(): number {
    return this.data.length * (this.#options.largest ?? Infinity);
  }

  /** Whether its last item is the first that was found. */
  get backwards(): boolean {
    return this.#options.beginning?.backwards ?? false;
  }

  /** A page of so many items, after which the list goes on; undefined for the page of a number, which has its size. */
  shortenedTo(count: number): Page<T> | undefined {
    const { beginning } = this.#options;
    if (!beginning) return undefined;
    const data = beginning.backwards ? this.data.slice(-count) : this.data.slice(0, count);
    return new Page(data, beginning.paginationOf(count), this.#options);
  }
}

/** The page that a value is, or is a copy of; undefined for anything else. */
export function pageIn(value: object): Page<object> | undefined {
  if (value instanceof Page) return value as Page<object>;
  const { data, pagination } = value as { data?: unknown; pagination?: unknown };
  if (pagination === undefined || !Array.isArray(data) || Object.keys(value).length !== 2) return undefined;
  return isPagination(pagination) ? new Page(data as object[], pagination) : undefined;
}

function isPagination(value: unknown): value is Pagination | CursorPagination {
  if (typeof value !== 'object' || value === null) return false;
  const names = Object.keys(value).sort().join();
  return names === NUMBERED || names === WITH_CURSORS;
}

/** A relation to another page, and the number or cursor that leads there; the first one of all needs none. */
type PageLink = [relation: string, value: string | number | undefined];

/** The `Link` header of a page (RFC 8288): where the other pages are, with the other parameters of the request. */
export function pageLinks(pagination: Pagination | CursorPagination, request: Request): string {
  const [, ...queries] = request.originalUrl.split('?');
  const { asSent: path } = pathsOf(request);
  const [parameter, links] =
    'total' in pagination ? ['page', numberedLinks(pagination)] : ['cursor', cursorLinks(pagination)];
  const others = new URLSearchParams(queries.join('?'));
  others.delete(parameter);
  const rest = others.toString();
  return links
    .map(([relation, value]) => {
      const query = [rest, value === undefined ? '' : `${parameter}=${value}`].filter(Boolean).join('&');
      return `<${path}${query && '?'}${query}>; rel="${relation}"`;
    })
    .join(', ');
}

function numberedLinks({ page, totalPages }: Pagination): PageLink[] {
  const last = Math.max(totalPages - 1, 0);
  const links: (PageLink | false)[] = [
    ['first', 0],
    page > 0 && ['prev', Math.min(page - 1, last)],
    page < last && ['next', page + 1],
    ['last', last],
  ];
  return links.filter((link) => link !== false);
}

function cursorLinks({ next, previous }: CursorPagination): PageLink[] {
  const links: (PageLink | false)[] = [
    ['first', undefined],
    previous !== null && ['prev', previous],
    next !== null && ['next', next],
  ];
  return links.filter((link) => link !== false);
}
