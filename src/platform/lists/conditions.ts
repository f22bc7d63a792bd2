import type { FindOperator } from 'typeorm';
import { Comparison, comparisonsIn, isOneOf } from '../input/comparison';
import type { ListQuery } from './list-query';

/** Columns with their values, or with TypeORM's operators. */
export type Filter<E> = { [Name in keyof E]?: E[Name] | FindOperator<E[Name]> };

/** What the caller asks of the rows by filters, and by their ids. */
export function conditionsIn(query: ListQuery): Comparison[] {
  const compared = comparisonsIn(query);
  const { ids } = query;
  return ids ? [...compared, new Comparison('ids', 'id', ...isOneOf(ids))] : compared;
}
