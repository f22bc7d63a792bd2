import type { ObjectLiteral, Repository, SelectQueryBuilder } from 'typeorm';
import { type ListQuery, sortOf } from './list-query';

/** The alias of the row in every statement of a list. */
export const ROW = 'resource';

export type Direction = 'ASC' | 'DESC';

export interface ReadOptions<E> {
  /** Relations that belong to the representation; each is an attribute of its own name, sorted by the column given. */
  include?: Partial<Record<keyof E & string, string>>;
  /** Columns that the representation needs besides those with the names of the `fields` asked for. */
  always?: (keyof E & string)[];
}

/** Which of the matching rows to read. */
export interface Slice {
  direction: Direction;
  limit: number;
  /** Rows to leave out first. Default: 0 */
  offset?: number;
}

/** Ids first: the rows themselves are fetched for one page only, and a join can't disturb the limit. */
export function readRows<E extends ObjectLiteral>(
  repository: Repository<E>,
  matching: SelectQueryBuilder<E>,
  query: ListQuery,
  { always = [], include = {} }: ReadOptions<E>,
  { direction, limit, offset = 0 }: Slice,
): Promise<E[]> {
  const sort = sortOf(query);
  const ids = sorted(matching.clone().select(`${ROW}.id`), sort, direction)
    .limit(limit)
    .offset(offset);
  const rows = repository.createQueryBuilder(ROW);
  if (query.fields) rows.select(columnsOf(repository, ['id', ...always, ...query.fields]));
  sorted(rows.where(`${ROW}.id IN (${ids.getQuery()})`).setParameters(ids.getParameters()), sort, direction);
  for (const [relation, column] of Object.entries(include) as [string, string][]) {
    if (!query.fields || query.fields.includes(relation)) {
      rows.leftJoinAndSelect(`${ROW}.${relation}`, relation).addOrderBy(`${relation}.${column}`);
    }
  }
  return rows.getMany();
}

/** Total: the id breaks ties, so that no two pages overlap and none skips. */
function sorted<E extends ObjectLiteral>(
  builder: SelectQueryBuilder<E>,
  sort: string,
  direction: Direction,
): SelectQueryBuilder<E> {
  return builder.orderBy(`${ROW}.${sort}`, direction).addOrderBy(`${ROW}.id`, direction);
}

function columnsOf<E extends ObjectLiteral>({ metadata }: Repository<E>, names: string[]): string[] {
  return [...new Set(names)]
    .filter((name) => metadata.findColumnWithPropertyName(name))
    .map((name) => `${ROW}.${name}`);
}
