import type { ObjectLiteral, Repository } from 'typeorm';
import type { PlainEntity } from '../rows/plain-entity';
import { sharedRead } from '../rows/shared-read';
import { nameOf } from '../rows/statement';
import { sharedLane } from './list-lane';
import { type ListQuery, sortOf, WORK } from './list-query';
import type { Slice } from './list';
import { columnsFor, type ReadOptions } from './read-rows';

/** Rows to skip from which on a page costs much. */
export const DEEP = 1_000;
/** Rows to skip from which on it pays to find the ids first, in the index alone. */
const IDS_FIRST_FROM = 100;

/** What the rows of a list without a search have in common: values of columns. */
export type Equal = [column: string, value: unknown][];

/**
 * The rows of a list whose conditions are values of columns: the same as readRows(), as a statement that PostgreSQL
 * plans once and that others who want the same page share. Building it by TypeORM and making entities of its rows takes four
 * times as long as all the rest.
 */
export async function readPlainRows<E extends ObjectLiteral>(
  repository: Repository<E>,
  plain: PlainEntity<E>,
  equal: Equal,
  query: ListQuery,
  { always = [] }: ReadOptions<E>,
  { direction, limit, offset = 0 }: Slice,
): Promise<E[]> {
  const { table, present } = plain;
  const columns = plain.select(columnsFor(repository, query, always));
  const order = `ORDER BY ${plain.column(sortOf(query))} ${direction}, id ${direction}`;
  const conditions = equal.map(([column], index) => `${plain.column(column)} = $${index + 3}`);
  if (present) conditions.unshift(present);
  const where = conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : '';
  const page = `${where} ${order} LIMIT $1 OFFSET $2`;
  const text =
    offset < IDS_FIRST_FROM
      ? `SELECT ${columns} FROM ${table} ${page}`
      : `SELECT ${columns} FROM ${table} WHERE id = ANY(ARRAY(SELECT id FROM ${table} ${page})) ${order}`;
  const values = [limit, offset, ...equal.map(([, value]) => value)];
  // Choices of `fields` are too many to keep a plan of each, on each connection.
  const name = query.fields ? undefined : nameOf(text);
  const { dataSource } = repository.manager;
  const statement = { name, text, values };
  const lane = offset < DEEP ? undefined : sharedLane(dataSource, query[WORK]);
  const rows = await sharedRead<E>(dataSource, statement, lane);
  return rows.map((row) => plain.toEntity(row));
}
