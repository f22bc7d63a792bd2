import { FindOptionsUtils, type ObjectLiteral, type Repository, type SelectQueryBuilder } from 'typeorm';
import { readDeleted } from './deleted-rows';
import { countFew, fewFound, fewIn } from './few-found';
import { foundIds, sorted } from './found-ids';
import { charactersOf, type FoundRows, type Included, selectIncluded, textsOf } from './found-rows';
import { noteHeavy, noteIfHeavy } from './heavy-tables';
import { IncludedRows } from './included-rows';
import type { Slice } from './list';
import { CURSORS, type ListQuery, sortOf } from './list-query';
import {
  bytesOf,
  checkPageRoom,
  FOUND_ID,
  foundIn,
  heavyRowsIn,
  mayBeHeavy,
  mayBeTooLarge,
  readIfLight,
  readWhatFits,
  ROW,
} from './row-sizes';
import { keepSortValues, selectSortValue, hasExactSortValue } from './sort-value';

export interface ReadOptions<E> {
  /** Relations that the representation contains, as attributes of the same names, each with the column to sort by. */
  include?: Partial<Record<keyof E & string, string>>;
  /** Columns that the representation needs besides the requested `fields`. */
  always?: (keyof E & string)[];
}

/** What a row takes that a list includes, besides its texts: its names and numbers, and the object that is made of it. */
export const BYTES_OF_INCLUDED = 128;

/**
 * Finds the ids first, so that only the rows of one page are fetched and a join can't disturb the limit. It is one
 * statement: between two, a row might change so that the caller must no longer see it.
 */
export async function readRows<E extends ObjectLiteral>(
  repository: Repository<E>,
  matching: SelectQueryBuilder<E>,
  query: ListQuery,
  { always = [], include = {} }: ReadOptions<E>,
  slice: Slice,
): Promise<FoundRows<E>> {
  const { metadata } = repository;
  const sort = sortOf(query);
  const wanted = columnsFor(repository, query, always, Object.keys(include));
  const columns = wanted?.map((name) => `${ROW}.${name}`);
  const rows = repository.createQueryBuilder(ROW);
  if (columns) rows.select(columns);
  const { weighs = false, only, room, isStep = false } = slice;
  const measures = !weighs && !isStep && mayBeTooLarge(query, slice.limit);
  const size = weighs || measures ? bytesOf(repository, columns) : undefined;
  const few = slice.isOfFew ? fewFound(matching, sort, slice, size) : undefined;
  const ids = few ?? foundIds(matching, sort, slice, size);
  if (few) countFew(rows, few);
  const { joined, included } = includedIn(repository, wanted ? query.fields! : undefined, include);
  const bytes = included.map(([, other]) => other.bytes(FOUND_ID, weighs ? BYTES_OF_INCLUDED : 0));
  if (weighs) readIfLight(rows, ids.text, bytes, sort !== 'id');
  else if (measures) readWhatFits(rows, ids, bytes, room);
  else rows.where(`${ROW}.id IN (${ids.text})`);
  sorted(rows.setParameters(ids.parameters), sort, slice.direction);
  for (const [relation, column] of joined) {
    rows.leftJoinAndSelect(`${ROW}.${relation}`, relation).addOrderBy(`${relation}.${column}`);
  }
  selectIncluded(rows, included);
  if (!wanted) FindOptionsUtils.joinEagerRelations(rows, ROW, metadata);
  const places = query[CURSORS] && !hasExactSortValue(metadata, sort);
  if (places) selectSortValue(rows, sort);
  readDeleted(rows, query);
  const { raw, entities } = await rows.getRawAndEntities<object>();
  const total = few && fewIn(raw);
  // These are others than those of the page.
  if (total === Infinity) return { entities: [], included: [], total };
  const heavy = weighs ? heavyRowsIn(raw, room, included.length === 0) : undefined;
  if (heavy) {
    noteHeavy(metadata);
    return { entities: [], included: [], heavy, total };
  }
  if (only && (measures ? foundIn(raw) : entities.length) < only.ids.length) {
    return { entities: [], included: [], changed: true };
  }
  if (measures) checkPageRoom(raw, entities, room);
  if (places) keepSortValues(raw, entities);
  const found = { entities, included: textsOf(raw as Record<string, string | null>[], included), total };
  if (!weighs && mayBeHeavy(query, slice.limit)) noteIfHeavy(metadata, entities, charactersOf(found.included));
  return found;
}

/** What is read along, by a join where TypeORM has to make it. @param fields the attributes asked for; all when undefined */
export function includedIn<E extends ObjectLiteral>(
  { manager, metadata }: Repository<E>,
  fields: string[] | undefined,
  include: ReadOptions<E>['include'] & object,
): { joined: [relation: string, column: string][]; included: Included } {
  const joined: [string, string][] = [];
  const included: Included = [];
  for (const [name, column] of Object.entries(include) as [string, string][]) {
    if (fields && !fields.includes(name)) continue;
    const rows = IncludedRows.of(manager.dataSource, metadata.findRelationWithPropertyPath(name)!);
    if (rows) included.push([name, rows, column]);
    else joined.push([name, column]);
  }
  return { joined, included };
}

/**
 * The columns for the requested `fields`, and the sort column, which the cursor contains. Undefined for all columns, if
 * an attribute is neither a column nor an included relation: its columns are unknown.
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
