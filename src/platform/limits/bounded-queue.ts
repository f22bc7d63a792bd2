import { regionOf } from './client-network';
import { FairQueue, type QueueKeys } from './fair-queue';
import { RegionalShares } from './regional-shares';

/** What waits in a {@link BoundedQueue}. */
export interface Queued {
  keys: QueueKeys;
  /** Called when it loses its place to a newcomer. It is no longer in the queue then. */
  refuse: () => void;
  /** Set by the queue. */
  region?: string;
}

/**
 * A queue of limited length in which keys take turns, e.g. the networks of clients. If it is full, the key that holds
 * most places loses one to a newcomer. If nobody holds more than the newcomer would, as with many networks that hold
 * one place each, the region loses one that has had most turns recently.
 */
export class BoundedQueue<T extends Queued> {
  private readonly queue = new FairQueue<T>();
  private readonly regions = new RegionalShares();

  /** @param max how many may wait */
  constructor(private readonly max: number) {}

  get size(): number {
    return this.queue.size;
  }

  /** @returns false if it is full, and nobody loses a place to this newcomer */
  add(item: T): boolean {
    item.region = regionOf(String(item.keys[0]));
    if (this.queue.size >= this.max && !this.makeRoomFor(item)) return false;
    this.queue.add(item, item.keys);
    this.regions.take(item.region);
    return true;
  }

  /** Takes an item out without a turn. */
  remove(item: T): void {
    this.queue.remove(item, item.keys);
    this.regions.giveBack(item.region!);
  }

  /** Removes and returns the item whose turn it is. @param may whether an item of these keys may have a turn now */
  next(may?: (keys: QueueKeys) => boolean): T | undefined {
    const next = this.queue.next(may);
    if (next) this.regions.spend(next.region!);
    return next;
  }

  /**
   * Displaces an item whose key holds more places than the newcomer's would. Otherwise displacing would only change who
   * waits.
   */
  private makeRoomFor({ keys, region }: T): boolean {
    const other = this.queue.latestOfLonger(keys) ?? this.greediest(keys, this.regions.of(region!) + 1);
    if (!other) return false;
    this.remove(other);
    other.refuse();
    return true;
  }

  /** The item whose region has most, if it is more than `least`. */
  private greediest(keys: QueueKeys, least: number): T | undefined {
    let greediest: T | undefined;
    let most = least;
    for (const other of this.queue.latestOfOthers(keys)) {
      const share = this.regions.of(other.region!);
      if (share > most) [greediest, most] = [other, share];
    }
    return greediest;
  }
}
