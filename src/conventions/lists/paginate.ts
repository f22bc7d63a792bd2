import { Brackets, type FindOptionsWhere, type ObjectLiteral, type Repository, type SelectQueryBuilder } from 'typeorm';
import { validationError } from '../errors/api-error';
import { directionOf, type ListQuery, pageSizeOf, sortOf } from './list-query';
import { Page } from './page';

const ROW = 'resource';

export interface PaginateOptions<E> {
  /** Text columns that `search` looks through; each needs a trigram index. */
  searchable?: (keyof E & string)[];
  /** Where else `search` looks: an SQL condition on `:pattern`. */
  searchIn?: string;
  /** Equal to these; an undefined value filters nothing. */
  filter?: FindOptionsWhere<E>;
  /** Any other condition, as TypeORM's query builder takes it; the alias of the row is `resource`. */
  where?: (builder: SelectQueryBuilder<E & ObjectLiteral>) => void;
  /** Relations that belong to the representation; each is an attribute of its own name, sorted by the column given. */
  include?: Partial<Record<keyof E & string, string>>;
  /** Columns that the representation needs besides those with the names of the `fields` asked for. */
  always?: (keyof E & string)[];
  /** Sortable attributes that this caller may not sort by. */
  hidden?: (keyof E & string)[];
}

/**
 * One page of a collection, in two statements: the rows and their number. Only names from the resource's own lists reach
 * the SQL text; everything that a caller wrote is a parameter.
 */
export async function paginate<E extends ObjectLiteral & { id: number }>(
  repository: Repository<E>,
  query: ListQuery,
  options: PaginateOptions<E>,
): Promise<Page<E>> {
  requireVisible(query, options);
  const matching = matchingRows(repository, query, options);
  const [data, total] = await Promise.all([readRows(repository, matching, query, options), count(matching)]);
  const { page, fields } = query;
  const size = pageSizeOf(query);
  return new Page(data, { page, size, total, totalPages: Math.ceil(total / size) }, fields);
}

function requireVisible<E>(query: ListQuery, { hidden = [] }: PaginateOptions<E>): void {
  const sortAttribute = sortOf(query);
  if (!(hidden as string[]).includes(sortAttribute)) return;
  throw validationError([{ field: 'sort', rule: 'access', message: `${sortAttribute} is not for you to sort by` }]);
}

function matchingRows<E extends ObjectLiteral>(
  repository: Repository<E>,
  { search, status }: ListQuery,
  { searchable = [], searchIn, filter, where }: PaginateOptions<E>,
): SelectQueryBuilder<E> {
  const builder = repository.createQueryBuilder(ROW);
  const equal = Object.entries({ ...filter, status }).filter(([, value]) => value !== undefined);
  // `where` resets what was there, so each condition is added.
  equal.forEach(([column, value]) => builder.andWhere(`${ROW}.${column} = :${column}`, { [column]: value as unknown }));
  where?.(builder);
  if (search !== undefined) builder.andWhere(contains(search, searchable, searchIn));
  return builder;
}

function contains(search: string, columns: string[], elsewhere?: string): Brackets {
  const pattern = `%${search.replace(/[\\%_]/g, '\\$&')}%`;
  const conditions = columns.map((column) => `${ROW}.${column} ILIKE :pattern`).concat(elsewhere ?? []);
  return new Brackets((either) => conditions.forEach((condition) => either.orWhere(condition, { pattern })));
}

/** Ids first: the rows themselves are fetched for one page only, and a join can't disturb the limit. */
function readRows<E extends ObjectLiteral>(
  repository: Repository<E>,
  matching: SelectQueryBuilder<E>,
  query: ListQuery,
  { always = [], include = {} }: PaginateOptions<E>,
): Promise<E[]> {
  const ids = sorted(matching.clone().select(`${ROW}.id`), query)
    .limit(pageSizeOf(query))
    .offset(query.page * pageSizeOf(query));
  const rows = repository.createQueryBuilder(ROW);
  if (query.fields) rows.select(columnsOf(repository, ['id', ...always, ...query.fields]));
  sorted(rows.where(`${ROW}.id IN (${ids.getQuery()})`).setParameters(ids.getParameters()), query);
  for (const [relation, column] of Object.entries(include) as [string, string][]) {
    if (!query.fields || query.fields.includes(relation)) {
      rows.leftJoinAndSelect(`${ROW}.${relation}`, relation).addOrderBy(`${relation}.${column}`);
    }
  }
  return rows.getMany();
}

/** Total: the id breaks ties, so that no two pages overlap and none skips. */
function sorted<E extends ObjectLiteral>(builder: SelectQueryBuilder<E>, query: ListQuery): SelectQueryBuilder<E> {
  return builder.orderBy(`${ROW}.${sortOf(query)}`, directionOf(query)).addOrderBy(`${ROW}.id`, directionOf(query));
}

function columnsOf<E extends ObjectLiteral>({ metadata }: Repository<E>, names: string[]): string[] {
  return [...new Set(names)]
    .filter((name) => metadata.findColumnWithPropertyName(name))
    .map((name) => `${ROW}.${name}`);
}

async function count<E extends ObjectLiteral>(matching: SelectQueryBuilder<E>): Promise<number> {
  // Not getCount(): it counts DISTINCT ids, which sorts them all.
  const row = await matching.clone().select('count(*)', 'total').getRawOne<{ total: number }>();
  return row?.total ?? 0;
}
