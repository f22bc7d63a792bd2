import type { Request } from 'express';
import { describedBy } from '../http/described-by';
import { pathsOf, searchOf } from '../routing/version';
import { project } from '../input/fields';

/** The sorted attribute names of each kind of pagination. */
const NUMBERED = 'page,size,total,totalPages';
const WITH_CURSORS = ['next,previous,size', 'next,previous,size,total'];

/** The position of a numbered page. */
export interface Pagination {
  /** Zero-based. */
  page: number;
  size: number;
  /** The number of items on all pages. */
  total: number;
  totalPages: number;
}

/** The position of a page that was read by a cursor. */
export interface CursorPagination {
  size: number;
  /** The cursor of the items after this page; null if there are none. */
  next: string | null;
  /** The cursor of the items before this page; null if there are none. */
  previous: string | null;
  /** The number of items on all pages, if the request asked for it. */
  total?: number;
}

/** How a page that was read by a cursor can be shortened. */
interface Beginning {
  /** True if the page was read from its last item on. */
  backwards: boolean;
  /** The pagination of a page that ends after its first `count` items. */
  paginationOf: (count: number) => CursorPagination;
}

export interface PageOptions {
  /** The attributes that the caller asked for. Default: all */
  fields?: string[];
  /** The greatest size of one item in bytes. Default: Infinity */
  largest?: number;
  /** How the page can be shortened. Default: it can't, like a numbered page */
  beginning?: Beginning;
  /** The items after those of `data`, of a page that stands for a whole list. */
  rest?: AsyncIterable<object[]>;
}

/**
 * One page of a collection, with the attributes that the caller asked for. Its JSON has the same attributes as in the
 * envelope, so that a copy that a cache or a serializer made is still recognised as a page; see pageIn().
 */
export class Page<T extends object> {
  readonly #options: PageOptions;

  constructor(
    readonly data: T[],
    readonly pagination: Pagination | CursorPagination,
    options: PageOptions = {},
  ) {
    this.#options = options;
    // Whoever changes the items in place would change the first ones alone.
    if (options.rest) for (const one of [data, ...data]) Object.freeze(one);
  }

  /** Maps the items to representations, reduced to the requested `fields`. */
  map<U extends object>(represent: (item: T) => U): Page<object> {
    const { fields } = this.#options;
    return this.mapAll((items) => items.map((item) => (fields ? project(represent(item), fields) : represent(item))));
  }

  /** Makes other items of all, also of those that come later. */
  mapAll(make: (items: T[]) => object[]): Page<object> {
    const { rest } = this.#options;
    const data = make(this.data);
    if (!rest) return this.withItems(data);
    return new Page(data, this.pagination, { ...this.#options, rest: madeOf(rest as AsyncIterable<T[]>, make) });
  }

  /**
   * The same page with other items. Of a whole list, the items that come later are lost.
   * @param more by how many bytes the largest item may have grown. Default: 0
   */
  withItems(data: object[], more = 0): Page<object> {
    const { largest = Infinity, ...options } = this.#options;
    return new Page<object>(data, this.pagination, { ...options, largest: largest + more, rest: undefined });
  }

  /** The attributes that the caller asked for. Undefined for all. */
  get fields(): string[] | undefined {
    return this.#options.fields;
  }

  /** The items after those of `data`; undefined for a page of a list. */
  get rest(): AsyncIterable<object[]> | undefined {
    return this.#options.rest;
  }

  /** The greatest size of the page in bytes. */
  get largest(): number {
    return this.data.length * (this.#options.largest ?? Infinity);
  }

  /** True if the last item was read first. */
  get backwards(): boolean {
    return this.#options.beginning?.backwards ?? false;
  }

  /** False for a numbered page, whose size is fixed. */
  get mayBeShortened(): boolean {
    return this.#options.beginning !== undefined;
  }

  /** A page of `count` items, after which the list goes on. Undefined for a numbered page, whose size is fixed. */
  shortenedTo(count: number): Page<T> | undefined {
    const { beginning } = this.#options;
    if (!beginning) return undefined;
    const data = beginning.backwards ? this.data.slice(-count) : this.data.slice(0, count);
    return new Page(data, beginning.paginationOf(count), this.#options);
  }
}

async function* madeOf<T>(rest: AsyncIterable<T[]>, make: (items: T[]) => object[]): AsyncGenerator<object[]> {
  for await (const items of rest) {
    const made = make(items);
    // Emptied, as promises of earlier steps may stay until the next major collection: see docs/performance.md.
    if (made !== items) items.length = 0;
    yield made;
  }
}

/** The page itself, or a page made of its copy. Undefined for any other value. */
export function pageIn(value: object): Page<object> | undefined {
  if (value instanceof Page) return value as Page<object>;
  const { data, pagination } = value as { data?: unknown; pagination?: unknown };
  if (pagination === undefined || !Array.isArray(data) || Object.keys(value).length !== 2) return undefined;
  return isPagination(pagination) ? new Page(data as object[], pagination) : undefined;
}

function isPagination(value: unknown): value is Pagination | CursorPagination {
  if (typeof value !== 'object' || value === null) return false;
  const names = Object.keys(value).sort().join();
  return names === NUMBERED || WITH_CURSORS.includes(names);
}

/** A link relation, and the page number or cursor of its target. The first page needs neither. */
type PageLink = [relation: string, value: string | number | undefined];

/**
 * The `Link` header of a page (RFC 8288): the page itself, the document, and the other pages. Their links keep the other
 * parameters of the request.
 */
export function pageLinks(pagination: Pagination | CursorPagination, request: Request): string {
  const { app, originalUrl, version } = request;
  const { asSent: path } = pathsOf(request);
  const [parameter, links] =
    'page' in pagination ? ['page', numberedLinks(pagination)] : ['cursor', cursorLinks(pagination)];
  const parameters = new URLSearchParams(searchOf(originalUrl));
  const self = linkTo(path, parameters.toString(), 'self');
  parameters.delete(parameter);
  const rest = parameters.toString();
  const others = links.map(([relation, value]) => {
    const place = value === undefined ? '' : `${parameter}=${value}`;
    return linkTo(path, [rest, place].filter(Boolean).join('&'), relation);
  });
  const document = version === undefined ? undefined : describedBy(app, version);
  return [...others, self, ...(document === undefined ? [] : [document])].join(', ');
}

const linkTo = (path: string, query: string, relation: string): string =>
  `<${path}${query && '?'}${query}>; rel="${relation}"`;

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
