import { neighbourhoodOf } from '../limits/client-network';
import { Semaphore } from '../limits/semaphore';
import type { Origin } from '../transactions/origin';
import type { Asking, Turns } from '../transactions/turns';
import { OVER, type UnitOfWork } from '../transactions/unit-of-work';
import { isWriter } from '../transactions/writer';

/** Connections that are left to what belongs to no unit of work, such as the look at who asks; of a pool of two none. */
const LEFT = 1;
/** Of a pool, how much a caller leaves to others: one of the places in it each. */
const OTHERS = 1 / 3;
/** Units of work that may wait; of more, the latest of whoever has most of them is 503. */
const MAX_WAITING = 1_000;

/**
 * Shares a pool's connections between those who ask for what writes: a caller whose requests wait for each other, or for the
 * lock of a row, holds two thirds of them at most, and while no more are free than the rest each caller holds one. So no few
 * callers take all. What commits waits for no lock any more, and counts no longer.
 */
export class ConnectionShares implements Turns {
  private readonly places: Semaphore;
  private readonly ofUnits = new WeakMap<UnitOfWork, Place>();

  /** @param size of the pool */
  constructor(size: number) {
    const places = size > 2 * LEFT ? size - LEFT : size;
    this.places = new Semaphore(places, MAX_WAITING, (held, free) => held === 0 || free > places * OTHERS);
  }

  /** What a unit does in one of its connections may wait for what it does in another: all have one place. */
  add(asking: Asking, unit: UnitOfWork): void {
    const place = this.ofUnits.get(unit);
    if (place) return place.add(asking);
    if (unit.clients.size > 0) return asking.begin(nothing);
    this.wait(asking, unit, callerOf(unit.origin));
  }

  private wait(first: Asking, unit: UnitOfWork, caller: string): void {
    const place = new Place(first, () => {
      this.ofUnits.delete(unit);
      this.places.release(caller);
    });
    this.ofUnits.set(unit, place);
    if (this.places.take(caller)) return place.begin();
    this.places.turn([caller], leaving(unit)).then(
      () => place.begin(),
      (error: Error) => {
        this.ofUnits.delete(unit);
        place.refuse(error);
      },
    );
  }
}

/** What a unit of work waits for, and keeps for as long as it holds a connection. */
class Place {
  private readonly waiting: Asking[];
  private begun = false;
  private held = 0;

  /** @param over told when the last connection was given back, or none was to be had */
  constructor(
    first: Asking,
    private readonly over: () => void,
  ) {
    this.waiting = [first];
  }

  add(asking: Asking): void {
    if (this.begun) this.take(asking);
    else this.waiting.push(asking);
  }

  begin(): void {
    this.begun = true;
    // None is over before all have begun.
    this.held++;
    for (const asking of this.waiting) this.take(asking);
    this.leave();
  }

  refuse(error: Error): void {
    for (const asking of this.waiting) asking.refuse(error);
  }

  private take(asking: Asking): void {
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

const signals = new WeakMap<UnitOfWork, AbortSignal>();

/** Tells a unit that waits that it need not. What is done behind an answer is nobody's to wait for, and done all the same. */
function leaving(unit: UnitOfWork): AbortSignal | undefined {
  const known = signals.get(unit);
  if (known) return known.aborted ? undefined : known;
  const response = unit.origin?.res;
  if (!response || response.closed) return undefined;
  const controller = new AbortController();
  response.once('close', () => {
    if (unit.cancelled || !response.writableFinished) controller.abort(OVER);
  });
  signals.set(unit, controller.signal);
  return controller.signal;
}

/** The user; before it is known who that is, or where it is nobody, the network. */
function callerOf({ user, ip }: Partial<Origin> = {}): string {
  return isWriter(user) ? `user ${user.id}` : neighbourhoodOf(ip);
}
