import { FindOptionsUtils, type ObjectLiteral, type Repository, type SelectQueryBuilder } from 'typeorm';
import { foundIds, sorted } from './found-ids';
import type { Slice } from './list';
import { CURSORS, type ListQuery, sortOf } from './list-query';
import { bytesOf, checkRoom, mayBeTooLarge, readWhatFits, ROW } from './row-sizes';
import { keepPlaces, selectPlace, tellsPlace } from './sort-place';

export interface ReadOptions<E> {
  /** Relations that belong to the representation; each is an attribute of its own name, sorted by the column given. */
  include?: Partial<Record<keyof E & string, string>>;
  /** Columns that the representation needs besides those with the names of the `fields` asked for. */
  always?: (keyof E & string)[];
}

/**
 * Ids first: the rows themselves are fetched for one page only, and a join can't disturb the limit. In one statement: between
 * two, a row may come to be what the conditions keep from the caller.
 */
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
  const rows = repository.createQueryBuilder(ROW);
  if (columns) rows.select(columns);
  const measures = mayBeTooLarge(query, slice.limit);
  const ids = foundIds(matching, sort, slice, measures ? bytesOf(repository, columns) : undefined);
  if (measures) readWhatFits(rows, ids.text, ids.order, slice.room);
  else rows.where(`${ROW}.id IN (${ids.text})`);
  sorted(rows.setParameters(ids.parameters), sort, slice.direction);
  for (const [relation, column] of Object.entries(include) as [string, string][]) {
    if (!wanted || query.fields!.includes(relation)) {
      rows.leftJoinAndSelect(`${ROW}.${relation}`, relation).addOrderBy(`${relation}.${column}`);
    }
  }
  if (!wanted) FindOptionsUtils.joinEagerRelations(rows, ROW, metadata);
  const places = query[CURSORS] && !tellsPlace(metadata, sort);
  if (places) selectPlace(rows, sort);
  const { raw, entities } = await rows.getRawAndEntities<object>();
  if (measures) checkRoom(raw, entities, slice.room);
  if (places) keepPlaces(raw, entities);
  return entities;
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
