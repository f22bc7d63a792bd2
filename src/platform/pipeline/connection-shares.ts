import { queueKeysOf } from '../limits/client-network';
import type { QueueKey, QueueKeys } from '../limits/fair-queue';
import { type Leaving, Semaphore } from '../limits/semaphore';
import type { Tally } from '../limits/tally';
import type { Origin } from '../transactions/origin';
import {
  type ConnectionRequest,
  type ConnectionScheduler,
  leavesConnections,
} from '../transactions/connection-scheduler';
import type { UnitOfWork } from '../transactions/unit-of-work';
import { isWriter } from '../transactions/writer';

/**
 * Connections that are left for statements without a unit of work, e.g. the look-up of callers. A pool of two leaves
 * none.
 */
const LEFT = 1;
/** The part of the pool's connections that a caller leaves to others. If no more are free, each caller has one. */
const OTHERS = 1 / 3;
/** The part that the writes of a neighbourhood leave to those of others. */
const OTHER_NETWORKS = 1 / 6;
/** The number of units of work that may wait. Beyond it, the caller with most of them gets 503. */
const MAX_WAITING = 1_000;

/**
 * Shares the connections of a pool among callers that write. A caller whose requests wait for each other, e.g. for a
 * row lock, holds at most two thirds of them. When only the last third is free, each caller holds one, and when only the
 * last sixth is free, each neighbourhood holds one: whoever has one address may have many accounts. Together with its
 * lists a neighbourhood leaves connections to all else, see {@link leavesConnections}. Neighbourhoods take turns, and
 * within each of them its callers. A unit of work that commits waits for no lock any more, so it no longer counts.
 */
export class ConnectionShares implements ConnectionScheduler {
  private readonly places: Semaphore;
  private readonly ofUnits = new WeakMap<UnitOfWork, Place>();

  /**
   * @param size the size of the pool
   * @param permits counts those of lists too
   */
  constructor(size: number, permits: Tally<QueueKey>) {
    const places = size > 2 * LEFT ? size - LEFT : size;
    const mayBegin = (ofNetwork: number, free: number, ofCaller: number, together: number) =>
      (ofNetwork === 0 || (free > places * OTHER_NETWORKS && leavesConnections(together, size))) &&
      (ofCaller === 0 || free > places * OTHERS);
    this.places = new Semaphore(places, MAX_WAITING, mayBegin, permits);
  }

  get waiting(): number {
    return this.places.waiting;
  }

  /** All connections of a unit share one permit, because work on one of them may wait for work on another. */
  add(asking: ConnectionRequest, unit: UnitOfWork): void {
    const place = this.ofUnits.get(unit);
    if (place) return place.add(asking);
    if (unit.clients.size > 0) return asking.begin(nothing);
    this.wait(asking, unit, keysOf(unit.origin));
  }

  private wait(first: ConnectionRequest, unit: UnitOfWork, keys: QueueKeys): void {
    const place = new Place(first, () => {
      this.ofUnits.delete(unit);
      this.places.release(keys);
    });
    this.ofUnits.set(unit, place);
    if (this.places.take(keys)) return place.begin();
    this.places.turn(keys, leaving(unit)).then(
      () => place.begin(),
      (error: Error) => {
        this.ofUnits.delete(unit);
        place.refuse(error);
      },
    );
  }
}

/** The permit that a unit of work waits for, and keeps while it holds a connection. */
class Place {
  private readonly waiting: ConnectionRequest[];
  private begun = false;
  private held = 0;

  /** @param over called when the last connection was given back, or none was available */
  constructor(
    first: ConnectionRequest,
    private readonly over: () => void,
  ) {
    this.waiting = [first];
  }

  add(asking: ConnectionRequest): void {
    if (this.begun) this.take(asking);
    else this.waiting.push(asking);
  }

  begin(): void {
    this.begun = true;
    // Keeps the permit until all requests have begun.
    this.held++;
    for (const asking of this.waiting) this.take(asking);
    this.leave();
  }

  refuse(error: Error): void {
    for (const asking of this.waiting) asking.refuse(error);
  }

  private take(asking: ConnectionRequest): void {
    this.held++;
    let isOver = false;
    asking.begin(() => {
      if (!isOver) this.leave();
      isOver = true;
    });
  }

  private leave(): void {
    if (--this.held === 0) this.over();
  }
}

const nothing = (): void => undefined;

/**
 * Tells that the client of a unit of work has gone, or that the unit was cancelled. Work that continues after its answer
 * waits on. Every write may wait, and an AbortController for each would cost more than the wait's other work.
 */
class UnitLeaving implements Leaving {
  private onClose?: () => void;

  constructor(
    private readonly unit: UnitOfWork,
    private readonly response: NonNullable<Origin['res']>,
  ) {}

  get aborted(): boolean {
    return this.response.closed && this.isUnwanted();
  }

  addEventListener(_type: 'abort', onAbort: () => void): void {
    const onClose = () => {
      if (this.isUnwanted()) onAbort();
    };
    this.onClose = onClose;
    this.response.once('close', onClose);
  }

  removeEventListener(): void {
    if (this.onClose) this.response.off('close', this.onClose);
  }

  private isUnwanted(): boolean {
    return this.unit.cancelled !== undefined || !this.response.writableFinished;
  }
}

function leaving(unit: UnitOfWork): Leaving | undefined {
  const response = unit.origin?.res;
  return response && !response.closed ? new UnitLeaving(unit, response) : undefined;
}

/** The neighbourhood, and in it the user, or the network of a caller that isn't known or has no account. */
function keysOf({ user, ip }: Partial<Origin> = {}): QueueKeys {
  const [neighbourhood, network] = queueKeysOf(ip);
  return [neighbourhood, isWriter(user) ? user.id : network];
}
