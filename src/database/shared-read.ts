import type { Pool, QueryConfig } from 'pg';
import type { DataSource } from 'typeorm';
import { UnitOfWork } from './unit-of-work';

/** What is asked in this turn; a map for each turn, as the tables of one that many requests go through hold on to them. */
const waiting = new WeakMap<DataSource, Map<string, Promise<object[]>>>();

/**
 * Runs a statement once for all who ask for the very same thing in one turn of the event loop. Each is still answered by
 * what the database says after it came. The rows belong to all of them: nobody changes them.
 */
export function sharedRead<R extends object>(database: DataSource, statement: QueryConfig): Promise<R[]> {
  const statements = waiting.get(database) ?? beginTurn(database);
  const key = JSON.stringify([statement.text, statement.values]);
  let rows = statements.get(key);
  if (!rows) statements.set(key, (rows = runInTurn(database, statement)));
  return rows as Promise<R[]>;
}

function beginTurn(database: DataSource): Map<string, Promise<object[]>> {
  const statements = new Map<string, Promise<object[]>>();
  waiting.set(database, statements);
  // Before the first of them runs: who comes from there on may want to see what was written meanwhile.
  setImmediate(() => waiting.delete(database));
  return statements;
}

function runInTurn(database: DataSource, statement: QueryConfig): Promise<object[]> {
  const { master: pool } = database.driver as unknown as { master: Pool };
  return new Promise((resolve, reject) => {
    setImmediate(() => {
      UnitOfWork.outside(() => pool.query<object>(statement)).then(({ rows }) => resolve(rows), reject);
    });
  });
}
