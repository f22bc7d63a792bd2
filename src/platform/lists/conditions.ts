import { type EntityMetadata, FindOperator } from 'typeorm';
import { Comparison, comparisonsIn, isOneOf } from '../input/comparison';
import type { Keys } from './list';
import { type ListQuery, sortOf } from './list-query';
import type { Equal } from './read-plain-rows';

/** Columns with their values, or with TypeORM's operators. */
export type Filter<E> = { [Name in keyof E]?: E[Name] | FindOperator<E[Name]> };

/** What the caller asks of the rows by filters, and by their ids. */
export function conditionsIn(query: ListQuery): Comparison[] {
  const compared = comparisonsIn(query);
  const { ids } = query;
  return ids ? [...compared, new Comparison('ids', 'id', ...isOneOf(ids))] : compared;
}

/**
 * Several ids that the rows have in a column, where the rows of each are best found one after the other: in an index of the
 * column and the `id`, by which the list is sorted. PostgreSQL itself would look for them in the order of the list, and may
 * read all rows before it finds the first.
 */
export function keysIn(
  metadata: EntityMetadata,
  equal: Equal,
  compared: Comparison[],
  query: ListQuery,
): Keys | undefined {
  if (sortOf(query) !== 'id' || query.search !== undefined || query.ids) return undefined;
  const lists: Keys[] = [
    ...equal.flatMap(([column, value]) => (isIn(value) ? [{ column, ids: value.value as number[] }] : [])),
    ...compared.flatMap(({ operator, attribute: column, value }) =>
      operator === '= ANY' ? [{ column, ids: value as number[] }] : [],
    ),
  ];
  return lists.find(
    ({ column, ids }) => ids.length > 1 && ids.every(Number.isSafeInteger) && isIndexed(metadata, column),
  );
}

const isIn = (value: unknown): value is FindOperator<unknown> => value instanceof FindOperator && value.type === 'in';

function isIndexed({ indices }: EntityMetadata, column: string): boolean {
  return indices.some(
    ({ columns: [first, second] }) => first?.propertyPath === column && second?.propertyPath === 'id',
  );
}
