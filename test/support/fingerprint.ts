import { DataSource } from 'typeorm';
import type { TestApi } from './test-api';

/** True for audit events of changed tables alone: a refused request leaves an event, too. */
const isOfChange = (without: string[]) =>
  `(version_before IS NOT NULL OR version_after IS NOT NULL) AND resource <> ALL ('{${without.join().replaceAll('_', '-')}}')`;

/** A digest of everything that is stored. @param without the tables to leave out */
export async function fingerprintOf({ app }: TestApi, without: string[] = []): Promise<Record<string, unknown>> {
  const database = app.nest.get(DataSource);
  const tables = database.entityMetadatas.map(({ tableName }) => tableName);
  expect(tables).toEqual(expect.arrayContaining(['sessions', 'refresh_tokens', 'order_items', 'replies']));
  const asked = tables.filter((table) => !without.includes(table));
  const prints = asked.map((table) => {
    const rows = table === 'audit_events' ? `${table} AS t WHERE ${isOfChange(without)}` : `${table} AS t`;
    return database.query<[object]>(`SELECT count(*), md5(string_agg(t::text, '' ORDER BY t::text)) FROM ${rows}`);
  });
  return Object.fromEntries((await Promise.all(prints)).map(([print], index) => [asked[index], print]));
}
