import type { Request } from 'express';
import { project } from '../responses/fields';

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

/** One page of a collection, and what the caller asked to see of its items. */
export class Page<T extends object> {
  constructor(
    readonly data: T[],
    readonly pagination: Pagination | CursorPagination,
    private readonly fields?: string[],
  ) {}

  /** The same page of representations, reduced to the `fields` asked for. */
  map<U extends object>(represent: (item: T) => U): Page<object> {
    const { fields } = this;
    const data = this.data.map((item) => (fields ? project(represent(item), fields) : represent(item)));
    return new Page<object>(data, this.pagination);
  }
}

/** A relation to another page, and the number or cursor that leads there; the first one of all needs none. */
type PageLink = [relation: string, value: string | number | undefined];

/** The `Link` header of a page (RFC 8288): where the other pages are, with the other parameters of the request. */
export function pageLinks(pagination: Pagination | CursorPagination, { originalUrl }: Request): string {
  const [path, ...queries] = originalUrl.split('?');
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
