import { Brackets, IsNull, type ObjectLiteral, type Repository, type SelectQueryBuilder } from 'typeorm';
import { countedRows, isCounted } from '../rows/counted-tables';
import { type PlainEntity, plainEntity } from '../rows/plain-entity';
import { searchableOf } from '../rows/searchable-by';
import { isInTransaction } from '../rows/statement';
import { UnitOfWork } from '../transactions/unit-of-work';
import type { Comparison } from '../input/comparison';
import { conditionsIn, type Filter, keysIn } from './conditions';
import { cursorPage } from './cursor-page';
import { CURSORS, KEYS, type ListQuery, pageSizeOf, sortOf, WORK } from './list-query';
import { heavyRows, mayWaitForPlace } from './heavy-rows';
import { wasHeavy } from './heavy-tables';
import { inOwnTurn, onOwnConnection } from './own-turn';
import { wholeRows } from './found-rows';
import type { List, Slice } from './list';
import { numberedPage } from './numbered-page';
import type { Page } from '../answers/page';
import { type Equal, readPlainRows } from './read-plain-rows';
import { readRows, type ReadOptions } from './read-rows';
import { requireColumns } from './require-columns';
import { requireVisible } from './require-visible';
import { mayBeHeavy, mayBeTooLarge, ROW } from './row-sizes';
import { Searches } from './searches';
import { hasExactSortValue } from './sort-value';
import { readConfirmed } from './confirmed-read';

export interface PaginateOptions<E> extends ReadOptions<E> {
  /** Text columns that `search` looks through; those of the entity's `@SearchableBy()` unless given. */
  searchable?: readonly (keyof E & string)[];
  /** A further SQL condition for `search`, which uses `:pattern`. */
  searchIn?: string;
  /** Values that columns must equal, or operators of TypeORM such as `In(ids)`. An undefined value filters nothing. */
  filter?: Filter<E>;
  /** Any other condition, by TypeORM's query builder. The alias of the row is `resource`. */
  where?: (builder: SelectQueryBuilder<E & ObjectLiteral>) => void;
  /** Attributes that this caller must neither sort nor filter by. */
  hidden?: (keyof E & string)[];
}

/**
 * Reads one page of a collection: by number in version 1, by cursor in version 2. SQL text only contains names from the
 * resource's own lists. Values from the caller are parameters.
 */
export function paginate<E extends ObjectLiteral & { id: number }>(
  repository: Repository<E>,
  asked: ListQuery,
  options: PaginateOptions<E> = {},
): Promise<Page<E>> {
  const query = withKeys(asked);
  requireColumns(repository.metadata, query, options);
  requireVisible(query, options.hidden);
  const { [CURSORS]: cursors, [WORK]: work = new UnitOfWork(), search } = query;
  const list = listOf(repository, query, options, work);
  const find = () => (cursors ? cursorPage(repository, list, query, cursors) : numberedPage(list, query));
  const searches = search === undefined ? undefined : Searches.of(repository.manager.dataSource);
  return readConfirmed(query, work, async () => {
    const { rows, page } = await (searches ? searches.run(search!, work, find) : find());
    return page(typeof rows === 'function' ? await rows() : rows);
  });
}

/** With `fields`, the values by which included rows are found are read too; see {@link Embedding}. */
function withKeys(query: ListQuery): ListQuery {
  const { fields, [KEYS]: keys } = query;
  return fields && keys ? { ...query, fields: [...new Set([...fields, ...keys])] } : query;
}

function listOf<E extends ObjectLiteral & { id: number }>(
  repository: Repository<E>,
  query: ListQuery,
  options: PaginateOptions<E>,
  work: UnitOfWork,
): List<E> {
  const { filter, where, include } = options;
  const { manager, metadata } = repository;
  const equal = equalities(filter, query.status);
  const compared = conditionsIn(query);
  const keys = keysIn(metadata, equal, compared, query);
  const matching = (rows: Repository<E>) => matchingRows(rows, query, options, equal, compared);
  const byTypeOrm = <T>(read: (rows: Repository<E>) => Promise<T>) => readAlone(repository, query, work, read);
  const readIn = (slice: Slice) => (rows: Repository<E>) => readRows(rows, matching(rows), query, options, slice);
  const mayWait = mayWaitForPlace(manager, work);
  // Uncommitted changes are only visible on the transaction's own connection.
  const isSimple = query.search === undefined && !where && !isInTransaction(manager);
  const isSmall = !mayBeTooLarge(query, pageSizeOf(query) + 1);
  const plain = isSimple && !include && isSmall && !keys ? plainFor(repository, equal, compared, query) : undefined;
  const ofStatus = equal.length === 1 && equal[0][0] === 'status' && typeof equal[0][1] === 'string';
  const isWhole = compared.length === 0 && (ofStatus || equal.length === 0);
  const counted = isSimple && isWhole && isCounted(manager.dataSource, metadata, ofStatus);
  return {
    read: async (slice) => {
      let weighs = mayWait && mayBeHeavy(query, slice.limit);
      if (plain && !slice.ranges) {
        const rows = await readPlainRows(repository, plain, { equal, compared }, query, options, { ...slice, weighs });
        if (rows) return rows;
      } else weighs &&= wasHeavy(metadata) || mayBeTooLarge(query, slice.limit);
      const rows = await byTypeOrm(readIn({ ...slice, keys, weighs }));
      const { heavy } = rows;
      if (!heavy) return wholeRows(rows, work);
      const found = () => readApart(repository, work, readIn({ ...slice, only: heavy }));
      const anew = () => readApart(repository, work, readIn({ ...slice, keys }));
      return () => heavyRows(manager.dataSource, work, heavy, { found, anew, search: query.search });
    },
    total: () =>
      counted
        ? countedRows(manager.dataSource, metadata.tableName, ofStatus ? String(equal[0][1]) : '')
        : byTypeOrm((rows) => count(matching(rows))),
    searches: query.search !== undefined,
    counted,
  };
}

/** Reads on a connection that ends with the request, unless the list is read within other work. */
function readAlone<E extends ObjectLiteral, T>(
  repository: Repository<E>,
  { search }: ListQuery,
  work: UnitOfWork,
  read: (rows: Repository<E>) => Promise<T>,
): Promise<T> {
  const { manager, target } = repository;
  // Searches have waited in their own queue.
  const inTurn = search === undefined ? inOwnTurn : onOwnConnection;
  return inTurn(manager, work, (own) => read(own.getRepository(target)));
}

/** Reads on a connection that ends with the request. */
function readApart<E extends ObjectLiteral, T>(
  repository: Repository<E>,
  work: UnitOfWork,
  read: (rows: Repository<E>) => Promise<T>,
): Promise<T> {
  const { manager, target } = repository;
  return onOwnConnection(manager, work, (own) => read(own.getRepository(target)));
}

/** Undefined if TypeORM must read the list, because of its entity, conditions or sort column. */
function plainFor<E extends ObjectLiteral>(
  { manager, metadata, target }: Repository<E>,
  equal: Equal,
  compared: Comparison[],
  query: ListQuery,
): PlainEntity<E> | undefined {
  const plain = plainEntity<E>(manager.dataSource, target);
  if (!plain || equal.some(([column, value]) => !plain.has(column) || !isPlainValue(value))) return undefined;
  if (compared.some(({ attribute }) => !plain.has(attribute))) return undefined;
  const sort = sortOf(query);
  return plain.has(sort) && (!query[CURSORS] || hasExactSortValue(metadata, sort)) ? plain : undefined;
}

/** False for null and for TypeORM's operators, which can't be compared by `=`. */
function isPlainValue(value: unknown): boolean {
  return typeof value !== 'object' || value instanceof Date;
}

/** If the service and the caller both ask for a status, both conditions apply. */
function equalities(filter: object = {}, status: string | undefined): Equal {
  return [...Object.entries(filter), ['status', status] as const].filter(([, value]) => value !== undefined) as Equal;
}

function matchingRows<E extends ObjectLiteral>(
  repository: Repository<E>,
  { search }: ListQuery,
  { searchable, searchIn, where }: PaginateOptions<E>,
  equal: Equal,
  compared: Comparison[],
): SelectQueryBuilder<E> {
  const builder = repository.createQueryBuilder(ROW);
  // `where` would replace earlier conditions, so each one is added.
  for (const [column, value] of equal) builder.andWhere({ [column]: value ?? IsNull() });
  for (const [index, comparison] of compared.entries()) {
    const condition = comparison.condition(`${ROW}.${comparison.attribute}`, `:compared_${index}`);
    builder.andWhere(condition, { [`compared_${index}`]: comparison.value });
  }
  where?.(builder);
  if (search !== undefined) builder.andWhere(contains(search, searchable ?? searchableOf(repository.target), searchIn));
  return builder;
}

function contains(search: string, columns: readonly string[], elsewhere?: string): Brackets {
  const pattern = `%${search.replace(/[\\%_]/g, '\\$&')}%`;
  const conditions = columns.map((column) => `${ROW}.${column} ILIKE :pattern`).concat(elsewhere ?? []);
  return new Brackets((either) => conditions.forEach((condition) => either.orWhere(condition, { pattern })));
}

async function count<E extends ObjectLiteral>(matching: SelectQueryBuilder<E>): Promise<number> {
  // getCount() would count DISTINCT ids, which sorts all of them.
  const row = await matching.clone().select('count(*)', 'total').getRawOne<{ total: number }>();
  return row?.total ?? 0;
}
