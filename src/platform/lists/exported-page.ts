import type { ObjectLiteral, Repository, SelectQueryBuilder } from 'typeorm';
import { Page } from '../answers/page';
import { mebibytes } from '../units';
import { plainEntity } from '../rows/plain-entity';
import { isBound } from '../rows/statement';
import type { UnitOfWork } from '../transactions/unit-of-work';
import { notExportable } from '../exports/not-exportable';
import { readDeleted, wantsDeleted } from './deleted-rows';
import { ExportPlaces } from './export-places';
import { ExportedRows, type ExportedQuery } from './exported-rows';
import { sorted } from './found-ids';
import { selectIncluded, textsOf, wholeRows } from './found-rows';
import { directionOf, EXPORT, largestItem, type ListQuery, sortOf } from './list-query';
import { isWithinOthers } from './own-turn';
import { columnsFor, includedIn, readRows, type ReadOptions } from './read-rows';
import { ROW } from './row-sizes';
import { Searches } from './searches';

/** The greatest number of rows that are read in one step. More take memory, and no less time. */
const MAX_STEP = 100;
/** The same for rows whose size has no documented bound. */
const UNBOUNDED_STEP = 20;
/** Bytes of a step, by the documented sizes of attributes. */
const STEP_BYTES = mebibytes(4);

type Row = ObjectLiteral & { id: number };
type Matching<E extends Row> = (rows: Repository<E>) => SelectQueryBuilder<E>;

/**
 * All rows that match, as a page: its items are the first of them, and the others follow when it is sent. So services and
 * handlers of lists serve exports as they are.
 */
export async function exportedPage<E extends Row>(
  repository: Repository<E>,
  query: ListQuery,
  options: ReadOptions<E>,
  matching: Matching<E>,
  work: UnitOfWork,
): Promise<Page<E>> {
  const exported = query[EXPORT]!;
  const { fields, search } = query;
  const { manager } = repository;
  if (!exported.readsRows) return pageOf<E>([], nothing(), fields);
  if (isBound(manager) || isWithinOthers(work)) throw notExportable('its list is read within a transaction');
  const { SEARCH_TIMEOUT } = ExportPlaces.of(manager.dataSource).settings;
  const read = {
    ...(statementOf(repository, query, options, matching, work) ?? byIds(repository, query, options, matching, work)),
    limit: search === undefined ? undefined : SEARCH_TIMEOUT,
  };
  const open = () => ExportedRows.open(manager, work, read, exported.confirm);
  const { first, rest } = await (search === undefined
    ? open()
    : Searches.of(manager.dataSource).run(search, work, open));
  return pageOf(first, rest, fields);
}

/** An export counts nothing, so its page has no number. */
const pageOf = <E extends object>(first: E[], rest: AsyncIterable<E[]>, fields: string[] | undefined): Page<E> =>
  new Page(first, { size: first.length, next: null, previous: null }, { fields, rest });

async function* nothing(): AsyncGenerator<never[]> {}

/** Reads entities that are nothing but their columns directly. Undefined if TypeORM has to make them. */
function statementOf<E extends Row>(
  repository: Repository<E>,
  query: ListQuery,
  { always, include = {} }: ReadOptions<E>,
  matching: Matching<E>,
  work: UnitOfWork,
): ExportedQuery<E> | undefined {
  const plain = plainEntity<E>(repository.manager.dataSource, repository.target);
  const wanted = columnsFor(repository, query, always as string[], Object.keys(include));
  const { joined, included } = includedIn(repository, wanted ? query.fields : undefined, include);
  if (!plain || joined.length > 0) return undefined;
  const rows = inOrder(repository, query, matching).select([]);
  const read = repository.metadata.columns.filter(({ isSelect, isVirtual }) => isSelect && !isVirtual);
  for (const { propertyName: name } of read) {
    if (!wanted || wanted.includes(name)) rows.addSelect(`${ROW}.${name}`, name);
  }
  selectIncluded(rows, included);
  const [text, values] = rows.getQueryAndParameters();
  const make = (raw: Record<string, string | null>[]) => {
    const texts = textsOf(raw, included);
    return wholeRows({ entities: raw.map((row) => plain.toEntity(row)), included: texts }, work);
  };
  return { text, values, step: stepOf(query), make };
}

/** Reads ids, and for each step the entities as their list does, in the snapshot of the ids. */
function byIds<E extends Row>(
  repository: Repository<E>,
  query: ListQuery,
  options: ReadOptions<E>,
  matching: Matching<E>,
  work: UnitOfWork,
): ExportedQuery<E> {
  const [text, values] = inOrder(repository, query, matching)
    .select(`CAST(${ROW}.id AS text)`, 'id')
    .getQueryAndParameters();
  return {
    text,
    values,
    step: stepOf(query),
    make: async (raw, manager) => {
      if (raw.length === 0) return [];
      const rows = manager.getRepository<E>(repository.target);
      const only = { ids: (raw as { id: string }[]).map(({ id }) => id), bytes: 0 };
      const slice = { direction: directionOf(query), limit: raw.length, only, isStep: true };
      const found = await readRows(rows, matching(rows), query, options, slice);
      if (found.changed) throw new Error('The conditions of a list changed between its rows, so it has no export');
      return wholeRows(found, work);
    },
  };
}

function stepOf(query: ListQuery): number {
  const largest = largestItem(query);
  if (largest === Infinity) return UNBOUNDED_STEP;
  return Math.max(1, Math.min(MAX_STEP, Math.floor(STEP_BYTES / largest)));
}

function inOrder<E extends Row>(
  repository: Repository<E>,
  query: ListQuery,
  matching: Matching<E>,
): SelectQueryBuilder<E> {
  return sorted(once(repository, query, matching(repository)), sortOf(query), directionOf(query));
}

/** Has each row once, and no hidden row, whatever a list joins: like its pages. */
function once<E extends Row>(
  repository: Repository<E>,
  query: ListQuery,
  found: SelectQueryBuilder<E>,
): SelectQueryBuilder<E> {
  const { joinAttributes, withDeleted, groupBys } = found.expressionMap;
  const isToOne = joinAttributes.every(({ relation }) => relation?.isManyToOne || relation?.isOneToOne);
  const hidesRows = !withDeleted || wantsDeleted(query);
  if (isToOne && hidesRows && groupBys.length === 0) return found;
  const ids = found.select(`${ROW}.id`);
  const rows = repository
    .createQueryBuilder(ROW)
    .where(`${ROW}.id IN (${ids.getQuery()})`)
    .setParameters(ids.getParameters());
  readDeleted(rows, query);
  return rows;
}
