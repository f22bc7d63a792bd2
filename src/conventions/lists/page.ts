import { project } from '../responses/fields';

export interface Pagination {
  /** Zero-based. */
  page: number;
  size: number;
  /** Of all pages together. */
  total: number;
  totalPages: number;
}

/** One page of a collection, and what the caller asked to see of its items. */
export class Page<T extends object> {
  constructor(
    readonly data: T[],
    readonly pagination: Pagination,
    private readonly fields?: string[],
  ) {}

  /** The same page of representations, reduced to the `fields` asked for. */
  map<U extends object>(represent: (item: T) => U): Page<object> {
    const { fields } = this;
    const data = this.data.map((item) => (fields ? project(represent(item), fields) : represent(item)));
    return new Page<object>(data, this.pagination);
  }
}

/** The `Link` header of a page (RFC 8288): first, prev, next and last, with the other parameters of the request. */
export function pageLinks({ page, totalPages }: Pagination, url: string): string {
  const [path, ...queries] = url.split('?');
  const last = Math.max(totalPages - 1, 0);
  const targets: [string, number, boolean][] = [
    ['first', 0, true],
    ['prev', Math.min(page - 1, last), page > 0],
    ['next', page + 1, page < last],
    ['last', last, true],
  ];
  return targets
    .filter(([, , exists]) => exists)
    .map(([relation, target]) => {
      const parameters = new URLSearchParams(queries.join('?'));
      parameters.set('page', String(target));
      return `<${path}?${parameters.toString()}>; rel="${relation}"`;
    })
    .join(', ');
}
