import type { QueryConfig } from 'pg';
import type { DataSource } from 'typeorm';
import { poolOf } from './cancellable-pool';
import { copyOf } from './copy';
import { UnitOfWork } from './unit-of-work';

interface Asker {
  resolve: (rows: object[]) => void;
  reject: (reason: unknown) => void;
}

/** Who asks for what in this turn; a map for each turn, as the tables of one that many requests go through hold on to them. */
const waiting = new WeakMap<DataSource, Map<string, Asker[]>>();

/**
 * Runs a statement once for all who ask for the very same thing in one turn of the event loop. Each is still answered by
 * what the database says after it came, with rows of its own.
 */
export function sharedRead<R extends object>(database: DataSource, statement: QueryConfig): Promise<R[]> {
  const statements = waiting.get(database) ?? beginTurn(database);
  const key = JSON.stringify([statement.text, statement.values]);
  const askers = statements.get(key);
  return new Promise((resolve, reject) => {
    const asker = { resolve: resolve as Asker['resolve'], reject };
    if (askers) return void askers.push(asker);
    const all = [asker];
    statements.set(key, all);
    runInTurn(database, statement, all);
  });
}

function beginTurn(database: DataSource): Map<string, Asker[]> {
  const statements = new Map<string, Asker[]>();
  waiting.set(database, statements);
  // Before the first of them runs: who comes from there on may want to see what was written meanwhile.
  setImmediate(() => waiting.delete(database));
  return statements;
}

function runInTurn(database: DataSource, statement: QueryConfig, askers: Asker[]): void {
  const pool = poolOf(database);
  setImmediate(() => {
    UnitOfWork.outside(() => pool.queryShared<object>(statement)).then(
      ({ rows }) => answer(rows, askers),
      (error: unknown) => askers.forEach(({ reject }) => reject(error)),
    );
  });
}

/** The copies first: the one who gets the rows themselves may change them at once. */
function answer(rows: object[], [first, ...others]: Asker[]): void {
  for (const { resolve } of others) resolve(rows.map(copyOf));
  first.resolve(rows);
}
