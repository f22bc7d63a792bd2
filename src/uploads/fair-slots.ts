import { kibibytes, seconds } from '../platform';
import { neighbourhoodOf, type QueueKeys, Tally } from '../platform/features';

/** In bytes per second: a slower request is preempted when all slots are taken and another request waits. */
const BUSY_BYTES_PER_SECOND = kibibytes(32);
/** A shorter time, in milliseconds, doesn't show how fast a client is. */
const MIN_MEASURED_MS = seconds(10);

/** The id of a user, or the network of a stranger. */
export type UserKey = number | string;

/** The user and network that take turns. */
export interface Party<U extends UserKey = UserKey> {
  user: U;
  /** The neighbourhood: the owner of a block of addresses counts as one network. */
  network: string;
}

/** A user who writes. */
export type Holder = Party<number>;

export function holderOf<U extends UserKey>(user: U, { ip }: { ip?: string }): Party<U> {
  return { user, network: neighbourhoodOf(ip) };
}

/** The queue keys: networks take turns, and within each network its users. */
export const keysOf = ({ network, user }: Party): QueueKeys => [network, user];

/** A slot of a running or waiting request. */
export interface Slot<U extends UserKey = UserKey> extends Party<U> {
  /** Ends the request for the sake of another. Undefined if the request can't be preempted, as it ends soon. */
  preempt?: () => void;
  /** The transfer rate of the client. */
  bytesPerSecond?: () => number;
}

/**
 * Bytes per second; Infinity for a time that is too short to judge a client. @param time milliseconds of waiting for
 * the client
 */
export function rateOf(bytes: number, time: number): number {
  return time < MIN_MEASURED_MS ? Infinity : bytes / (time / seconds(1));
}

/** A set of slots that networks, and the users of each network, share fairly. */
export class FairSlots<P extends Slot = Slot> {
  private readonly all = new Set<P>();
  private readonly ofNetworks = new Tally<string>();
  private readonly ofUsers = new Tally<UserKey>();

  get size(): number {
    return this.all.size;
  }

  /** In the order of insertion. */
  [Symbol.iterator](): Iterator<P> {
    return this.all[Symbol.iterator]();
  }

  ofUser(user: UserKey): number {
    return this.ofUsers.of(user);
  }

  add(place: P): void {
    this.all.add(place);
    this.ofNetworks.add(place.network, 1);
    this.ofUsers.add(place.user, 1);
  }

  remove(place: P): void {
    if (!this.all.delete(place)) return;
    this.ofNetworks.add(place.network, -1);
    this.ofUsers.add(place.user, -1);
  }

  /** Negative if the network of `one`, or else its user, has fewer slots than that of `other`. */
  compare(one: Slot, other: Slot): number {
    const byNetwork = this.ofNetworks.of(one.network) - this.ofNetworks.of(other.network);
    return byNetwork || this.ofUsers.of(one.user) - this.ofUsers.of(other.user);
  }

  /**
   * The slot that is preempted for a newcomer: the slowest of the network with most slots, or, if the newcomer's
   * network has as many, the slowest of the user with most slots in it. Of equally slow ones, it is the latest. If
   * nobody has more slots than the newcomer would, a slot below BUSY_BYTES_PER_SECOND. Undefined otherwise: preempting
   * would only change who waits. Iterates over all slots.
   */
  forNewcomer(newcomer: Slot): P | undefined {
    const others = [...this.all].filter(({ preempt }) => preempt);
    const own = this.ofNetworks.of(newcomer.network);
    const ofUser = this.ofUsers.of(newcomer.user);
    const { most, those } = largest(others, ({ network }) => this.ofNetworks.of(network));
    if (most > own + 1) return slowest(largest(those, ({ user }) => this.ofUsers.of(user)).those);
    const near = others.filter(({ network }) => network === newcomer.network);
    const greediest = largest(near, ({ user }) => this.ofUsers.of(user));
    if (greediest.most > ofUser + 1) return slowest(greediest.those);
    const slow = others.filter((place) => this.compare(place, newcomer) > 0 && speedOf(place) < BUSY_BYTES_PER_SECOND);
    return slowest(slow);
  }
}

/** The items with the largest amount, and that amount. */
function largest<P>(places: P[], amountOf: (place: P) => number): { most: number; those: P[] } {
  let most = 0;
  for (const place of places) most = Math.max(most, amountOf(place));
  return { most, those: places.filter((place) => amountOf(place) === most) };
}

function slowest<P extends Slot>(places: P[]): P | undefined {
  let least: P | undefined;
  for (const place of places) if (!least || speedOf(place) <= speedOf(least)) least = place;
  return least;
}

const speedOf = ({ bytesPerSecond }: Slot): number => bytesPerSecond?.() ?? Infinity;
