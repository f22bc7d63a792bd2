import { neighbourhoodOf } from '../limits/client-network';
import { Semaphore } from '../limits/semaphore';
import type { Origin } from '../transactions/origin';
import type { Turns } from '../transactions/turns';
import type { UnitOfWork } from '../transactions/unit-of-work';
import { isWriter } from '../transactions/writer';

/** Connections that are left to what belongs to no unit of work, such as the look at who asks; of a pool of two none. */
const LEFT = 1;
/** Units of work that may wait; of more, the latest of whoever has most of them is 503. */
const MAX_WAITING = 1_000;
/** Why a signal is aborted: without one Node makes an error for each. */
const OVER = 'The request is over';

type Hold = () => Promise<void>;

/**
 * Shares a pool's connections between those who ask for what writes: a caller whose requests wait for each other, or for the
 * lock of a row, holds half of what is free, the next one half of the rest. So no few callers take all.
 */
export class ConnectionShares implements Turns {
  private readonly places: Semaphore;
  private readonly ofUnits = new WeakMap<UnitOfWork, Place>();

  /** @param size of the pool */
  constructor(size: number) {
    const places = size > 2 * LEFT ? size - LEFT : size;
    this.places = new Semaphore(places, MAX_WAITING, (held, free) => held < free);
  }

  /** What a unit does in one of its connections may wait for what it does in another: all have one place. */
  run(hold: Hold, unit: UnitOfWork): Promise<void> {
    const place = this.ofUnits.get(unit);
    if (place) return place.add(hold);
    return unit.clients.size > 0 ? hold() : this.wait(new Place(hold), unit);
  }

  private wait(place: Place, unit: UnitOfWork): Promise<void> {
    const forget = () => void this.ofUnits.delete(unit);
    this.ofUnits.set(unit, place);
    place.whole = this.places.run(
      () => place.begin(forget),
      () => leaving(unit),
      [callerOf(unit.origin)],
    );
    place.whole.catch(forget);
    return place.whole;
  }
}

/** What a unit of work waits for, and keeps for as long as it holds a connection. */
class Place {
  /** Until the last connection was given back, or none was to be had. */
  whole: Promise<void>;
  private readonly waiting: Hold[];
  private begun = false;
  private held = 0;
  private over: () => void;

  constructor(first: Hold) {
    this.waiting = [first];
  }

  add(hold: Hold): Promise<void> {
    if (this.begun) this.take(hold);
    else this.waiting.push(hold);
    return this.whole;
  }

  /** @param forget told before another may have its place */
  begin(forget: () => void): Promise<void> {
    this.begun = true;
    return new Promise((resolve) => {
      this.over = () => {
        forget();
        resolve();
      };
      for (const hold of this.waiting) this.take(hold);
    });
  }

  private take(hold: Hold): void {
    this.held++;
    void hold().then(() => {
      if (--this.held === 0) this.over();
    });
  }
}

const signals = new WeakMap<UnitOfWork, AbortSignal>();

/** Tells a unit that waits that it need not. What is done behind an answer is nobody's to wait for, and done all the same. */
function leaving(unit: UnitOfWork): AbortSignal | undefined {
  const known = signals.get(unit);
  const response = unit.origin?.res;
  if (known || !response || response.closed) return known?.aborted ? undefined : known;
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
