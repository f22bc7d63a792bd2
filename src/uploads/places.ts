import { type LineKeys, neighbourhoodOf, Tally } from '../platform';

/** Bytes a second below which a request gives way when all places are taken and somebody waits. */
const BUSY_RATE = 32 * 1024;
/** Less time says nothing about how fast a client is, in milliseconds. */
const LEAST_TIME = 10_000;

/** On whose behalf something is done. */
export interface Holder {
  user: number;
  /** With those beside it: whoever has a block of addresses counts as one. */
  network: string;
}

export function holderOf(user: number, { ip }: { ip?: string }): Holder {
  return { user, network: neighbourhoodOf(ip) };
}

/** In each line networks take turns, and in each network its users. */
export const keysOf = ({ network, user }: Holder): LineKeys => [network, user];

/** A place among requests: one that is taken, or one that is waited for. */
export interface Place extends Holder {
  /** Ends the request for the sake of another; without it nobody is asked to, as it ends by itself soon. */
  giveWay?: () => void;
  /** Bytes a second that its client moves. */
  rate?: () => number;
}

/** Bytes a second, as far as they say anything of a client. @param time milliseconds in which it was waited for */
export function rateOf(bytes: number, time: number): number {
  return time < LEAST_TIME ? Infinity : (bytes * 1_000) / time;
}

/** Places, and how they are shared: among networks, and among the users of each. */
export class Places<P extends Place = Place> {
  private readonly all = new Set<P>();
  private readonly ofNetworks = new Tally<string>();
  private readonly ofUsers = new Tally<number>();

  get size(): number {
    return this.all.size;
  }

  /** In the order in which they were added. */
  [Symbol.iterator](): Iterator<P> {
    return this.all[Symbol.iterator]();
  }

  ofUser(user: number): number {
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

  /** Below 0 when the network of the one, or else its user, has fewer places than that of the other. */
  compare(one: Place, other: Place): number {
    const byNetwork = this.ofNetworks.of(one.network) - this.ofNetworks.of(other.network);
    return byNetwork || this.ofUsers.of(one.user) - this.ofUsers.of(other.user);
  }

  /**
   * Which place a newcomer may have: the slowest of the network, or in its own network of the user, that has most; the latest
   * of those that are equally slow. Where nobody has more than the newcomer would have then, one that is too slow for so busy
   * a time. Else undefined: it would only change who waits. Goes through all places.
   */
  forNewcomer(newcomer: Place): P | undefined {
    const others = [...this.all].filter(({ giveWay }) => giveWay);
    const own = this.ofNetworks.of(newcomer.network);
    const ofUser = this.ofUsers.of(newcomer.user);
    const { most, those } = largest(others, ({ network }) => this.ofNetworks.of(network));
    if (most > own + 1) return slowest(largest(those, ({ user }) => this.ofUsers.of(user)).those);
    const near = others.filter(({ network }) => network === newcomer.network);
    const greediest = largest(near, ({ user }) => this.ofUsers.of(user));
    if (greediest.most > ofUser + 1) return slowest(greediest.those);
    const slow = others.filter((place) => this.compare(place, newcomer) > 0 && speedOf(place) < BUSY_RATE);
    return slowest(slow);
  }
}

/** Those of which the most is so, and how much that is. */
function largest<P>(places: P[], amountOf: (place: P) => number): { most: number; those: P[] } {
  let most = 0;
  for (const place of places) most = Math.max(most, amountOf(place));
  return { most, those: places.filter((place) => amountOf(place) === most) };
}

function slowest<P extends Place>(places: P[]): P | undefined {
  let least: P | undefined;
  for (const place of places) if (!least || speedOf(place) <= speedOf(least)) least = place;
  return least;
}

const speedOf = ({ rate }: Place): number => rate?.() ?? Infinity;
