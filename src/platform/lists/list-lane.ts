import type { DataSource } from 'typeorm';
import { queueKeysOf } from '../limits/client-network';
import type { QueueKeys } from '../limits/fair-queue';
import { Semaphore } from '../limits/semaphore';
import type { SharedLane } from '../rows/shared-read';
import { hasOwnPool, poolOf } from '../transactions/cancellable-pool';
import { leavesConnections } from '../transactions/connection-scheduler';
import type { UnitOfWork } from '../transactions/unit-of-work';

/** Statements at once, however large the pool is: the event loop reads the rows of all of them. */
const MOST = 8;
/** Connections of the pool that are left for statements other than expensive lists and searches. */
const LEFT = 2;
/** The part of the places that a network leaves to others, at least one. If no more are free, each network has one. */
const OTHERS = 1 / 3;
/** The number of list statements that may wait for a connection. Beyond it, the network with most of them gets 503. */
const MAX_WAITING = 1_000;

const lanes = new WeakMap<DataSource, Semaphore>();

/**
 * Runs a statement of a list that may cost as much as hundreds of others: one that counts, skips many rows, or selects
 * rows by a value; or a search. Networks take turns. The pool's own queue knows no networks.
 * @param unit the unit of work of the statement. When it is called off, the statement leaves the queue
 * @throws {ServiceUnavailableException} when too many wait
 */
export function inListLane<T>(database: DataSource, unit: UnitOfWork | undefined, read: () => Promise<T>): Promise<T> {
  if (!hasOwnPool(database)) return read();
  const run = (waited: boolean) => {
    if (waited && unit) unit.waitedLong = true;
    return read();
  };
  // A list that doesn't wait has no need of a signal, which is a controller and a listener each time.
  const signal = () => unit?.signal;
  return laneOf(database).run(run, unit?.isOver ? signal() : signal, queueKeysOf(unit?.origin?.ip));
}

/** The same limit for a statement that several requests share. */
export function sharedLane(database: DataSource, unit: UnitOfWork | undefined): SharedLane {
  return new LaneOfCaller(database, unit);
}

/** A class: V8 gives each object literal with a getter a shape of its own, which keeps the request until a major collection. */
class LaneOfCaller implements SharedLane {
  readonly keys: QueueKeys;

  constructor(
    private readonly database: DataSource,
    private readonly unit: UnitOfWork | undefined,
  ) {
    this.keys = queueKeysOf(unit?.origin?.ip);
  }

  get isFree(): boolean {
    return laneOf(this.database).isFreeFor(this.keys);
  }

  get isOver(): boolean {
    return this.unit?.isOver ?? false;
  }

  get signal(): AbortSignal | undefined {
    return this.unit?.signal;
  }

  run<T>(
    read: (waited: boolean) => Promise<T>,
    signal: AbortSignal | undefined | (() => AbortSignal | undefined),
  ): Promise<T> {
    return laneOf(this.database).run(read, signal, this.keys);
  }

  waited(): void {
    if (this.unit) this.unit.waitedLong = true;
  }
}

function laneOf(database: DataSource): Semaphore {
  let lane = lanes.get(database);
  if (!lane) {
    const { permits, options } = poolOf(database);
    const places = Math.max(1, Math.min(MOST, options.max - LEFT));
    const ofOthers = Math.max(1, places * OTHERS);
    const mayBegin = (held: number, free: number, _ofNetwork: number, together: number) =>
      held === 0 || (free > ofOthers && leavesConnections(together, options.max));
    lane = new Semaphore(places, MAX_WAITING, mayBegin, permits);
    lanes.set(database, lane);
  }
  return lane;
}
