import { DataSource } from 'typeorm';
import type { TestApi } from './test-api';

/** A digest of everything that is stored. @param without the tables to leave out */
export async function fingerprintOf({ app }: TestApi, without: string[] = []): Promise<Record<string, unknown>> {
  const database = app.nest.get(DataSource);
  const tables = database.entityMetadatas.map(({ tableName }) => tableName);
  expect(tables).toEqual(expect.arrayContaining(['sessions', 'refresh_tokens', 'order_items', 'replies']));
  const asked = tables.filter((table) => !without.includes(table));
  const prints = asked.map((table) =>
    database.query<[object]>(`SELECT count(*), md5(string_agg(t::text, '' ORDER BY t::text)) FROM ${table} AS t`),
  );
  return Object.fromEntries((await Promise.all(prints)).map(([print], index) => [asked[index], print]));
}
