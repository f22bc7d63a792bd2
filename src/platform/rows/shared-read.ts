import type { QueryConfig, QueryResult } from 'pg';
import type { DataSource } from 'typeorm';
import type { QueueKeys } from '../limits/fair-queue';
import { replicaFor } from '../replica/reading';
import type { Replica } from '../replica/replica';
import { poolOf } from '../transactions/cancellable-pool';
import { copyOf } from './copy';
import { UnitOfWork } from '../transactions/unit-of-work';

/** The queue in which an expensive read waits for its turn, seen by one of its callers. */
export interface SharedLane {
  /** The caller's queue keys. Where a read waits, only callers with the same keys share it: nobody waits in another's queue. */
  keys: QueueKeys;
  /** Whether the read would begin at once. */
  readonly isFree: boolean;
  /** Whether the caller has gone. */
  readonly isOver: boolean;
  /** Aborted when the caller has gone. Asked for only where the read waits. */
  readonly signal: AbortSignal | undefined;
  /** @param signal aborted when all callers have gone */
  run: <T>(
    read: (waited: boolean) => Promise<T>,
    signal: AbortSignal | undefined | (() => AbortSignal | undefined),
  ) => Promise<T>;
  /** Called for each caller of a read that has waited. */
  waited: () => void;
}

interface Asker {
  resolve: (rows: object[]) => void;
  reject: (reason: unknown) => void;
  lane?: SharedLane;
  /** The replica that may answer: the same for all who share a statement. */
  replica?: Replica;
}

/**
 * The callers of each statement in this turn of the event loop. Each turn has a new Map, because the tables of a
 * long-lived one would keep requests in memory.
 */
const waiting = new WeakMap<DataSource, Map<string, Asker[]>>();

/**
 * Runs a statement once for all callers who request the same one in one turn of the event loop. The statement starts
 * after their arrival, and each gets rows of its own.
 * @param lane the queue in which the statement waits for its turn. Default: none
 */
export function sharedRead<R extends object>(
  database: DataSource,
  statement: QueryConfig,
  lane?: SharedLane,
): Promise<R[]> {
  const statements = waiting.get(database) ?? beginTurn(database);
  const replica = replicaFor(database);
  // Those whose last write the replica doesn't show yet share another statement.
  const key = JSON.stringify([statement.text, statement.values, replica !== undefined]);
  const askers = statements.get(key);
  return new Promise((resolve, reject) => {
    const asker = { resolve: resolve as Asker['resolve'], reject, lane, replica };
    if (askers) return void askers.push(asker);
    const all = [asker];
    statements.set(key, all);
    setImmediate(() => runInTurn(database, statement, all));
  });
}

function beginTurn(database: DataSource): Map<string, Asker[]> {
  const statements = new Map<string, Asker[]>();
  waiting.set(database, statements);
  // Removed before the first statement runs: later callers may need to see newer rows.
  setImmediate(() => waiting.delete(database));
  return statements;
}

function runInTurn(database: DataSource, statement: QueryConfig, askers: Asker[]): void {
  const [{ lane }] = askers;
  if (!lane || lane.isFree) return runFor(database, statement, askers);
  for (const ofQueue of byQueue(askers)) runFor(database, statement, ofQueue);
}

function byQueue(askers: Asker[]): Asker[][] {
  const queues = new Map<string, Asker[]>();
  for (const asker of askers) {
    const key = JSON.stringify(asker.lane?.keys);
    const others = queues.get(key);
    if (others) others.push(asker);
    else queues.set(key, [asker]);
  }
  return [...queues.values()];
}

function runFor(database: DataSource, statement: QueryConfig, askers: Asker[]): void {
  UnitOfWork.outside(() => runInLane(database, statement, askers)).then(
    ({ rows }) => answer(rows, askers),
    (error: unknown) => askers.forEach(({ reject }) => reject(error)),
  );
}

function runInLane(database: DataSource, statement: QueryConfig, askers: Asker[]): Promise<QueryResult<object>> {
  const [{ lane, replica }] = askers;
  const fromPrimary = () => poolOf(database).queryShared<object>(statement);
  const read = () => (replica ? replica.read(statement, fromPrimary) : fromPrimary());
  if (!lane) return read();
  const readInTurn = (waited: boolean) => {
    if (waited) askers.forEach((asker) => asker.lane?.waited());
    return read();
  };
  const signal = () => allOf(askers.map((asker) => asker.lane?.signal));
  return lane.run(readInTurn, askers.every((asker) => asker.lane?.isOver) ? signal() : signal);
}

/** A signal that is aborted when all of them are; undefined if one caller has none. */
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

/** The copies are made first: the caller who gets the original rows may change them at once. */
function answer(rows: object[], [first, ...others]: Asker[]): void {
  for (const { resolve } of others) resolve(rows.map(copyOf));
  first.resolve(rows);
}
