import { Brackets, type FindOptionsWhere, type ObjectLiteral, type Repository, type SelectQueryBuilder } from 'typeorm';
import { countedRows } from '../../database/count-rows';
import { validationError } from '../errors/api-error';
import { cursorPage } from './cursor-page';
import { CURSORS, type ListQuery, sortOf } from './list-query';
import { numberedPage } from './numbered-page';
import type { Page } from './page';
import { type Equal, readPlainRows } from './read-plain-rows';
import { readRows, type ReadOptions, ROW, type Slice } from './read-rows';

export interface PaginateOptions<E> extends ReadOptions<E> {
  /** Text columns that `search` looks through; each needs a trigram index. */
  searchable?: (keyof E & string)[];
  /** Where else `search` looks: an SQL condition on `:pattern`. */
  searchIn?: string;
  /** Equal to these; an undefined value filters nothing. */
  filter?: FindOptionsWhere<E>;
  /** Any other condition, as TypeORM's query builder takes it; the alias of the row is `resource`. */
  where?: (builder: SelectQueryBuilder<E & ObjectLiteral>) => void;
  /** Whether its migration has the rows counted, see countRows(): the total then costs nothing. Default: false */
  counted?: boolean;
  /** Sortable attributes that this caller may not sort by. */
  hidden?: (keyof E & string)[];
}

/**
 * One page of a collection: the page of a number in version 1, the one that a cursor leads to in version 2. Only names
 * from the resource's own lists reach the SQL text; everything that a caller wrote is a parameter.
 */
export function paginate<E extends ObjectLiteral & { id: number }>(
  repository: Repository<E>,
  query: ListQuery,
  options: PaginateOptions<E>,
): Promise<Page<E>> {
  requireVisible(query, options);
  const { [CURSORS]: cursors } = query;
  const list = listOf(repository, query, options);
  return cursors ? cursorPage(repository, list, query, options, cursors) : numberedPage(list, query);
}

/** Where the rows of a list come from, and how many there are. */
export interface List<E extends ObjectLiteral> {
  read: (slice: Slice) => Promise<E[]>;
  total: () => Promise<number>;
  /** Whether the total is known without looking at the rows. */
  counted: boolean;
  /** All that match, for conditions of one's own. */
  matching: () => SelectQueryBuilder<E>;
}

function listOf<E extends ObjectLiteral & { id: number }>(
  repository: Repository<E>,
  query: ListQuery,
  options: PaginateOptions<E>,
): List<E> {
  const { filter, where, include, counted = false } = options;
  const equal = equalities(filter, query.status);
  const matching = () => matchingRows(repository, query, options, equal);
  const plain = query.search === undefined && !where;
  const isCounted = plain && counted && equal.every(([column]) => column === 'status');
  return {
    read: (slice) =>
      plain && !include
        ? readPlainRows(repository, equal, query, options, slice)
        : readRows(repository, matching(), query, options, slice),
    total: () =>
      isCounted
        ? countedRows(repository.manager.dataSource, repository.metadata.tableName, query.status)
        : count(matching()),
    counted: isCounted,
    matching,
  };
}

function equalities(filter: object | undefined, status: string | undefined): Equal {
  return Object.entries({ ...filter, status }).filter(([, value]) => value !== undefined);
}

function requireVisible<E>(query: ListQuery, { hidden = [] }: PaginateOptions<E>): void {
  const sortAttribute = sortOf(query);
  if (!(hidden as string[]).includes(sortAttribute)) return;
  throw validationError([{ field: 'sort', rule: 'access', message: `${sortAttribute} is not for you to sort by` }]);
}

function matchingRows<E extends ObjectLiteral>(
  repository: Repository<E>,
  { search }: ListQuery,
  { searchable = [], searchIn, where }: PaginateOptions<E>,
  equal: Equal,
): SelectQueryBuilder<E> {
  const builder = repository.createQueryBuilder(ROW);
  // `where` resets what was there, so each condition is added.
  equal.forEach(([column, value]) => builder.andWhere(`${ROW}.${column} = :${column}`, { [column]: value }));
  where?.(builder);
  if (search !== undefined) builder.andWhere(contains(search, searchable, searchIn));
  return builder;
}

function contains(search: string, columns: string[], elsewhere?: string): Brackets {
  const pattern = `%${search.replace(/[\\%_]/g, '\\$&')}%`;
  const conditions = columns.map((column) => `${ROW}.${column} ILIKE :pattern`).concat(elsewhere ?? []);
  return new Brackets((either) => conditions.forEach((condition) => either.orWhere(condition, { pattern })));
}

async function count<E extends ObjectLiteral>(matching: SelectQueryBuilder<E>): Promise<number> {
  // Not getCount(): it counts DISTINCT ids, which sorts them all.
  const row = await matching.clone().select('count(*)', 'total').getRawOne<{ total: number }>();
  return row?.total ?? 0;
}
