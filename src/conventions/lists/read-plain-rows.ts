import type { ObjectLiteral, Repository } from 'typeorm';
import { sharedRead } from '../../database/shared-read';
import { nameOf } from '../../database/statement';
import { type ListQuery, sortOf } from './list-query';
import type { ReadOptions, Slice } from './read-rows';

/** Rows to skip from which on it pays to find the ids first, in the index alone. */
const IDS_FIRST_FROM = 100;

/** What the rows of a list without a search have in common: values of columns. */
export type Equal = [column: string, value: unknown][];

/**
 * The rows of a list whose conditions are values of columns: the same as readRows(), as a statement that PostgreSQL
 * plans once and that others who want the same page share. Building it by TypeORM and making entities of its rows takes four
 * times as long as all the rest.
 */
export function readPlainRows<E extends ObjectLiteral>(
  { metadata, manager }: Repository<E>,
  equal: Equal,
  query: ListQuery,
  { always = [] }: ReadOptions<E>,
  { direction, limit, offset = 0 }: Slice,
): Promise<E[]> {
  const names = metadata.columns.filter(({ isSelect }) => isSelect).map(({ propertyName }) => propertyName);
  const wanted = query.fields && ['id', ...always, ...query.fields];
  const columns = names.filter((name) => !wanted || wanted.includes(name)).map((name) => `"${name}"`);
  const order = `ORDER BY "${sortOf(query)}" ${direction}, id ${direction}`;
  const deleted = metadata.deleteDateColumn ? [`"${metadata.deleteDateColumn.databaseName}" IS NULL`] : [];
  const conditions = [...deleted, ...equal.map(([column], index) => `"${column}" = $${index + 3}`)];
  const where = conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : '';
  const page = `${where} ${order} LIMIT $1 OFFSET $2`;
  const table = `"${metadata.tableName}"`;
  const text =
    offset < IDS_FIRST_FROM
      ? `SELECT ${columns.join()} FROM ${table} ${page}`
      : `SELECT ${columns.join()} FROM ${table} WHERE id = ANY(ARRAY(SELECT id FROM ${table} ${page})) ${order}`;
  const values = [limit, offset, ...equal.map(([, value]) => value)];
  // Choices of `fields` are too many to keep a plan of each, on each connection.
  const name = query.fields ? undefined : nameOf(text);
  return sharedRead<E>(manager.dataSource, { name, text, values });
}
