import type { QueryConfig, QueryResult } from 'pg';
import type { DataSource } from 'typeorm';
import type { LineKeys } from '../limits/fair-line';
import { poolOf } from '../transactions/cancellable-pool';
import { copyOf } from './copy';
import { UnitOfWork } from '../transactions/unit-of-work';

/** Where a read that costs much waits for its turn, as one of those who ask for it has it. */
export interface SharedLane {
  /** Whose line the asker stands in. Only askers of one line share a read: none waits in the line of another. */
  line: LineKeys;
  /** Aborted when the asker has gone. */
  signal?: AbortSignal;
  /** @param signal aborted when all askers have gone */
  run: <T>(read: (waited: boolean) => Promise<T>, signal?: AbortSignal) => Promise<T>;
  /** Told to each asker of a read that has waited. */
  waited: () => void;
}

interface Asker {
  resolve: (rows: object[]) => void;
  reject: (reason: unknown) => void;
  lane?: SharedLane;
}

/** Who asks for what in this turn; a map for each turn, as the tables of one that many requests go through hold on to them. */
const waiting = new WeakMap<DataSource, Map<string, Asker[]>>();

/**
 * Runs a statement once for all who ask for the very same thing in one turn of the event loop. Each is still answered by
 * what the database says after it came, with rows of its own.
 * @param lane where the statement waits for its turn. Default: nowhere
 */
export function sharedRead<R extends object>(
  database: DataSource,
  statement: QueryConfig,
  lane?: SharedLane,
): Promise<R[]> {
  const statements = waiting.get(database) ?? beginTurn(database);
  const key = JSON.stringify([statement.text, statement.values, lane?.line]);
  const askers = statements.get(key);
  return new Promise((resolve, reject) => {
    const asker = { resolve: resolve as Asker['resolve'], reject, lane };
    if (askers) return void askers.push(asker);
    const all = [asker];
    statements.set(key, all);
    setImmediate(() => runInTurn(database, statement, all));
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
  UnitOfWork.outside(() => runInLane(database, statement, askers)).then(
    ({ rows }) => answer(rows, askers),
    (error: unknown) => askers.forEach(({ reject }) => reject(error)),
  );
}

function runInLane(database: DataSource, statement: QueryConfig, askers: Asker[]): Promise<QueryResult<object>> {
  const read = () => poolOf(database).queryShared<object>(statement);
  const [{ lane }] = askers;
  if (!lane) return read();
  const readInTurn = (waited: boolean) => {
    if (waited) askers.forEach((asker) => asker.lane?.waited());
    return read();
  };
  return lane.run(readInTurn, allOf(askers.map((asker) => asker.lane?.signal)));
}

/** Aborted when all of them are; undefined where one can't be. */
function allOf(signals: (AbortSignal | undefined)[]): AbortSignal | undefined {
  if (signals.length === 1) return signals[0];
  const present = signals.filter((signal) => signal !== undefined);
  if (present.length < signals.length) return undefined;
  const all = new AbortController();
  const leave = () => {
    if (present.every(({ aborted }) => aborted)) all.abort();
  };
  for (const signal of present) signal.addEventListener('abort', leave, { once: true });
  leave();
  return all.signal;
}

/** The copies first: the one who gets the rows themselves may change them at once. */
function answer(rows: object[], [first, ...others]: Asker[]): void {
  for (const { resolve } of others) resolve(rows.map(copyOf));
  first.resolve(rows);
}
