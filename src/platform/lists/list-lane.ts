import type { DataSource } from 'typeorm';
import { lineKeysOf } from '../limits/client-network';
import { Semaphore } from '../limits/semaphore';
import type { SharedLane } from '../rows/shared-read';
import { hasOwnPool, poolOf } from '../transactions/cancellable-pool';
import type { UnitOfWork } from '../transactions/unit-of-work';
import { noteWait } from './waits';

/** Connections of the pool that lists which cost more than a glance at an index leave to all else. */
const LEFT = 2;
/** Statements of lists that may wait for a connection; of more, those of the network that has most are 503. */
const MAX_WAITING = 1_000;

const lanes = new WeakMap<DataSource, Semaphore>();

/**
 * Runs a statement of a list that may cost as much as hundreds of others: one that counts, or that skips many rows. Networks
 * take turns, where the pool's own line knows nothing of who waits in it.
 * @param unit what it belongs to; when it is called off, it leaves the line
 * @throws {ServiceUnavailableException} when too many wait
 */
export function inListLane<T>(database: DataSource, unit: UnitOfWork | undefined, read: () => Promise<T>): Promise<T> {
  if (!hasOwnPool(database)) return read();
  const run = (waited: boolean) => {
    if (waited) noteWait(unit);
    return read();
  };
  return laneOf(database).run(run, unit?.signal, lineKeysOf(unit?.origin?.ip));
}

/** The same lane for a statement that several share. */
export function sharedLane(database: DataSource, unit: UnitOfWork | undefined): SharedLane {
  const line = lineKeysOf(unit?.origin?.ip);
  return {
    line,
    signal: unit?.signal,
    run: (read, signal) => laneOf(database).run(read, signal, line),
    waited: () => noteWait(unit),
  };
}

function laneOf(database: DataSource): Semaphore {
  let lane = lanes.get(database);
  if (!lane) {
    lane = new Semaphore(Math.max(1, poolOf(database).options.max - LEFT), MAX_WAITING);
    lanes.set(database, lane);
  }
  return lane;
}
