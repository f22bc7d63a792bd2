import type { Pool, QueryConfig } from 'pg';
import type { DataSource } from 'typeorm';
import { UnitOfWork } from './unit-of-work';

const waiting = new WeakMap<DataSource, Map<string, Promise<object[]>>>();

/**
 * Runs a statement once for all who ask for the very same thing in one turn of the event loop. Each is still answered by
 * what the database says after it came. The rows belong to all of them: nobody changes them.
 */
export function sharedRead<R extends object>(database: DataSource, statement: QueryConfig): Promise<R[]> {
  let statements = waiting.get(database);
  if (!statements) waiting.set(database, (statements = new Map<string, Promise<object[]>>()));
  const key = JSON.stringify([statement.text, statement.values]);
  let rows = statements.get(key);
  if (!rows) statements.set(key, (rows = runInTurn(database, statement, () => statements.delete(key))));
  return rows as Promise<R[]>;
}

function runInTurn(database: DataSource, statement: QueryConfig, onStart: () => void): Promise<object[]> {
  const { master: pool } = database.driver as unknown as { master: Pool };
  return new Promise((resolve, reject) => {
    setImmediate(() => {
      // Who comes from here on may want to see what was written meanwhile.
      onStart();
      UnitOfWork.outside(() => pool.query<object>(statement)).then(({ rows }) => resolve(rows), reject);
    });
  });
}
