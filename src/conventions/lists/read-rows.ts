import { FindOptionsUtils, type ObjectLiteral, type Repository, type SelectQueryBuilder } from 'typeorm';
import { isExact } from '../../database/plain-entity';
import { CURSORS, type ListQuery, sortOf } from './list-query';
import { idsThatFit, mayBeTooLarge, type Room, ROW } from './row-sizes';
import { withPlaces } from './sort-place';

export type Direction = 'ASC' | 'DESC';

export interface ReadOptions<E> {
  /** Relations that belong to the representation; each is an attribute of its own name, sorted by the column given. */
  include?: Partial<Record<keyof E & string, string>>;
  /** Columns that the representation needs besides those with the names of the `fields` asked for. */
  always?: (keyof E & string)[];
}

/** What rows must fulfil, as TypeORM's query builder takes it. */
export type Condition = [text: string, parameters?: ObjectLiteral];

/** Which of the matching rows to read. */
export interface Slice {
  direction: Direction;
  limit: number;
  /** Rows to leave out first. Default: 0 */
  offset?: number;
  /** What those that don't fit are left out for. Without one all are wanted, or none. */
  room?: Room;
}

/** Ids first: the rows themselves are fetched for one page only, and a join can't disturb the limit. */
export async function readRows<E extends ObjectLiteral>(
  repository: Repository<E>,
  matching: SelectQueryBuilder<E>,
  query: ListQuery,
  { always = [], include = {} }: ReadOptions<E>,
  slice: Slice,
): Promise<E[]> {
  const { metadata } = repository;
  const sort = sortOf(query);
  const wanted = columnsFor(repository, query, always, Object.keys(include));
  const columns = wanted?.map((name) => `${ROW}.${name}`);
  const ids = sorted(matching.clone().select(`${ROW}.id`, 'id'), sort, slice.direction)
    .limit(slice.limit)
    .offset(slice.offset ?? 0);
  const rows = repository.createQueryBuilder(ROW);
  if (columns) rows.select(columns);
  if (mayBeTooLarge(query, slice.limit)) {
    rows.where(`${ROW}.id = ANY(:ids)`, { ids: await idsThatFit(ids, repository, columns, slice.room) });
  } else {
    rows.where(`${ROW}.id IN (${ids.getQuery()})`).setParameters(ids.getParameters());
  }
  sorted(rows, sort, slice.direction);
  for (const [relation, column] of Object.entries(include) as [string, string][]) {
    if (!wanted || query.fields!.includes(relation)) {
      rows.leftJoinAndSelect(`${ROW}.${relation}`, relation).addOrderBy(`${relation}.${column}`);
    }
  }
  if (!wanted) FindOptionsUtils.joinEagerRelations(rows, ROW, metadata);
  const column = metadata.findColumnWithPropertyName(sort);
  return query[CURSORS] && column && !isExact(column) ? withPlaces(rows, sort) : rows.getMany();
}

/**
 * The columns for the `fields` asked for. Undefined for the whole entity, which an attribute takes that is neither a column
 * nor an included relation: nobody knows what it is made of. A cursor holds what its item was sorted by, shown or not.
 */
export function columnsFor<E extends ObjectLiteral>(
  { metadata }: Repository<E>,
  query: ListQuery,
  always: string[] = [],
  relations: string[] = [],
): string[] | undefined {
  const { fields } = query;
  const isColumn = (name: string) => metadata.findColumnWithPropertyName(name)?.propertyPath === name;
  if (!fields?.every((name) => isColumn(name) || relations.includes(name))) return undefined;
  const sortedBy = query[CURSORS] ? [sortOf(query)] : [];
  return [...new Set(['id', ...sortedBy, ...always, ...fields])].filter(isColumn);
}

/** Total: the id breaks ties, so that no two pages overlap and none skips. */
function sorted<E extends ObjectLiteral>(
  builder: SelectQueryBuilder<E>,
  sort: string,
  direction: Direction,
): SelectQueryBuilder<E> {
  return builder.orderBy(`${ROW}.${sort}`, direction).addOrderBy(`${ROW}.id`, direction);
}
