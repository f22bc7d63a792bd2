import type { ObjectLiteral, Repository } from 'typeorm';
import { countedRows, isCounted, tellsMoves } from '../rows/counted-tables';
import { type PlainEntity, plainEntity } from '../rows/plain-entity';
import { isBound } from '../rows/statement';
import { UnitOfWork } from '../transactions/unit-of-work';
import type { Comparison } from '../input/comparison';
import { conditionsIn, keysIn } from './conditions';
import { cursorPage } from './cursor-page';
import { requireMayReadDeleted, wantsDeleted } from './deleted-rows';
import { CURSORS, EXPORT, KEYS, type ListQuery, pageSizeOf, sortOf, WORK } from './list-query';
import { numberOfNone } from './few-found';
import { heavyRows, mayWaitForPlace } from './heavy-rows';
import { wasHeavy } from './heavy-tables';
import { inOwnTurn, onOwnConnection } from './own-turn';
import { countFound } from './found-ids';
import { type FoundRows, wholeRows } from './found-rows';
import type { List, Rows, Slice } from './list';
import { numberedPage } from './numbered-page';
import type { Page } from '../answers/page';
import { exportedPage } from './exported-page';
import { readPlaced } from './placed-rows';
import { type Equal, readPlainRows } from './read-plain-rows';
import { readRows, type ReadOptions } from './read-rows';
import { requireColumns } from './require-columns';
import { requireVisible } from './require-visible';
import { mayBeHeavy, mayBeTooLarge } from './row-sizes';
import { Searches } from './searches';
import { hasExactSortValue } from './sort-value';
import { equalities, matchingRows, type MatchingOptions } from './matching-rows';
import { readConfirmed } from './confirmed-read';

export interface PaginateOptions<E> extends ReadOptions<E>, MatchingOptions<E> {
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
  requireMayReadDeleted(query);
  const { [CURSORS]: cursors, [WORK]: work = new UnitOfWork(), search } = query;
  if (query[EXPORT]) return wholeList(repository, query, options, work);
  const list = listOf(repository, query, options, work);
  const find = () => (cursors ? cursorPage(repository, list, query, cursors) : numberedPage(list, query));
  const searches = search === undefined ? undefined : Searches.of(repository.manager.dataSource);
  return readConfirmed(query, work, async () => {
    const { rows, page } = await (searches ? searches.run(search!, work, find) : find());
    return page(typeof rows === 'function' ? await rows() : rows);
  });
}

function wholeList<E extends ObjectLiteral & { id: number }>(
  repository: Repository<E>,
  query: ListQuery,
  options: PaginateOptions<E>,
  work: UnitOfWork,
): Promise<Page<E>> {
  const equal = equalities(options.filter, query.status);
  const matching = (rows: Repository<E>) => matchingRows(rows, query, options, equal, conditionsIn(query));
  return readConfirmed(query, work, () => exportedPage(repository, query, options, matching, work));
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
  // The indexes of the columns have no deleted rows.
  const ofDeleted = wantsDeleted(query);
  const keys = ofDeleted ? undefined : keysIn(metadata, equal, compared, query);
  const matching = (rows: Repository<E>) => matchingRows(rows, query, options, equal, compared);
  const byTypeOrm = <T>(read: (rows: Repository<E>) => Promise<T>) => readAlone(repository, query, work, read);
  const readIn = (slice: Slice) => (rows: Repository<E>) => readRows(rows, matching(rows), query, options, slice);
  const mayWait = mayWaitForPlace(manager, work);
  const mayWeigh = ({ limit }: Slice) => mayWait && mayBeHeavy(query, limit);
  const weighsRows = (slice: Slice) => mayWeigh(slice) && (wasHeavy(metadata) || mayBeTooLarge(query, slice.limit));
  const whole = async (rows: FoundRows<E>, slice: Slice): Promise<Rows<E>> => {
    const { heavy } = rows;
    if (!heavy) return wholeRows(rows, work);
    const found = () => readApart(repository, work, readIn({ ...slice, only: heavy }));
    const anew = () => readApart(repository, work, readIn({ ...slice, keys }));
    return () => heavyRows(manager.dataSource, work, heavy, { found, anew, search: query.search });
  };
  // Uncommitted changes are only visible on the transaction's own connection.
  const isSimple = query.search === undefined && !where && !isBound(manager);
  const isSmall = !mayBeTooLarge(query, pageSizeOf(query) + 1);
  const plain = isSimple && !include && isSmall && !keys ? plainFor(repository, equal, compared, query) : undefined;
  const ofStatus = equal.length === 1 && equal[0][0] === 'status' && typeof equal[0][1] === 'string';
  const isWhole = !ofDeleted && compared.length === 0 && (ofStatus || equal.length === 0);
  const counted = isSimple && isWhole && isCounted(manager.dataSource, metadata, ofStatus);
  const total = () =>
    counted
      ? countedRows(manager.dataSource, metadata.tableName, ofStatus ? String(equal[0][1]) : '')
      : byTypeOrm((rows) => countFound(matching(rows)));
  return {
    read: async (slice) => {
      const readsPlain = plain && (slice.ranges?.length ?? 0) <= 1;
      const weighs = readsPlain ? mayWeigh(slice) : weighsRows(slice);
      if (readsPlain) {
        const rows = await readPlainRows(repository, plain, { equal, compared }, query, options, { ...slice, weighs });
        if (rows) return rows;
      }
      return whole(await byTypeOrm(readIn({ ...slice, keys, weighs })), slice);
    },
    few: async (slice) => {
      if (!Searches.of(manager.dataSource).isHelped(query.search!)) return undefined;
      const rows = await byTypeOrm(readIn({ ...slice, isOfFew: true, weighs: weighsRows(slice) }));
      const found = rows.total ?? (await byTypeOrm((all) => numberOfNone(matching(all), sortOf(query), slice)));
      const isFew = found !== undefined && found < Infinity;
      return isFew ? { rows: await whole(rows, slice), total: found } : undefined;
    },
    total,
    placed: async (slice) => {
      const { direction, limit, offset } = slice;
      if (!plain || !counted || equal.length > 0 || sortOf(query) !== 'id') return undefined;
      const weighs = mayWeigh(slice);
      // Rows that weigh are not read so: looking for them in vain costs as much as finding them.
      if ((weighs && wasHeavy(metadata)) || !tellsMoves(manager.dataSource, metadata)) return undefined;
      return readPlaced({ repository, plain, query, options, total }, { direction, limit, offset, weighs });
    },
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
