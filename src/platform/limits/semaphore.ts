import { ServiceUnavailableException } from '@nestjs/common';
import { regionOf } from './client-network';
import { FairQueue, type QueueKey, type QueueKeys } from './fair-queue';
import { RegionalShares } from './regional-shares';
import { Tally } from './tally';

/** Milliseconds. What was looked up before a shorter wait is no older than without a queue, where work takes as long. */
const LONG = 50;

/** What tells that somebody no longer waits: an AbortSignal, or what costs less. */
export interface Leaving {
  readonly aborted: boolean;
  addEventListener(type: 'abort', onAbort: () => void, options: { once: true }): void;
  removeEventListener(type: 'abort', onAbort: () => void): void;
}

/** A waiting caller. */
interface Waiting {
  key: QueueKey;
  region: string;
  begin: () => void;
  refuse: () => void;
}

/**
 * Limits how many callers work at once and how many wait. Others are refused. Waiting callers have keys, e.g. the
 * network of their client, and keys take turns. In a full queue, the key that holds most places loses one to a
 * newcomer. If nobody holds more than the newcomer would, as with many networks that hold one place each, the region
 * loses one that has had most turns recently.
 */
export class Semaphore {
  private readonly line = new FairQueue<Waiting>();
  private readonly regions = new RegionalShares();
  /** The number of working callers of each widest key. */
  private readonly working = new Tally<QueueKey>();

  /**
   * @param permits how many may work at once
   * @param maxWaiting how many may wait
   * @param mayBegin whether a key that has `working` permits may have another one while `free` permits are left
   */
  constructor(
    private permits: number,
    private readonly maxWaiting: number,
    private readonly mayBegin: (working: number, free: number) => boolean = () => true,
  ) {}

  /**
   * @param work told whether it has waited long, see {@link LONG}
   * @param signal takes the work out of the queue; what has begun runs on. A function is asked for it only where the work waits
   * @param keys on whose behalf it is
   * @throws {ServiceUnavailableException} when too many wait, or the signal is aborted before the work begins
   */
  async run<T>(
    work: (waitedLong: boolean) => Promise<T>,
    signal?: AbortSignal | (() => AbortSignal | undefined),
    keys: QueueKeys = [''],
  ): Promise<T> {
    if (typeof signal !== 'function' && signal?.aborted) throw notWanted();
    const [key] = keys;
    const waitedLong = !this.take(key) && (await this.waitLong(keys, typeof signal === 'function' ? signal() : signal));
    try {
      return await work(waitedLong);
    } finally {
      this.release(key);
    }
  }

  private async waitLong(keys: QueueKeys, signal: AbortSignal | undefined): Promise<boolean> {
    const start = performance.now();
    await this.turn(keys, signal);
    return performance.now() - start > LONG;
  }

  /** Takes a free permit, which must be released. @returns false if there is none for this key */
  take(key: QueueKey): boolean {
    if (!this.isFreeFor(key)) return false;
    this.permits--;
    this.working.add(key, 1);
    return true;
  }

  /**
   * Resolves with the permit of somebody who has finished, which has to be released.
   * @throws as {@link run}
   */
  turn(keys: QueueKeys, signal: Leaving | undefined): Promise<void> {
    if (signal?.aborted) return Promise.reject(notWanted());
    const [key] = keys;
    const region = regionOf(String(key));
    if (this.line.size >= this.maxWaiting) this.makeRoomFor(keys, region);
    return new Promise((resolve, reject) => {
      const leave = (error: Error) => {
        signal?.removeEventListener('abort', onAbort);
        this.line.remove(waiting, keys);
        this.regions.giveBack(region);
        reject(error);
      };
      const onAbort = () => leave(notWanted());
      const waiting: Waiting = {
        key,
        region,
        begin: () => {
          signal?.removeEventListener('abort', onAbort);
          this.regions.spend(region);
          resolve();
        },
        refuse: () => leave(tooMany()),
      };
      this.line.add(waiting, keys);
      this.regions.take(region);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  /**
   * Displaces a waiting caller whose key holds more places than the newcomer's would. Otherwise displacing would only
   * change who waits.
   */
  private makeRoomFor(keys: QueueKeys, region: string): void {
    const other = this.line.latestOfLonger(keys) ?? this.greediest(keys, this.regions.of(region) + 1);
    if (!other) throw tooMany();
    other.refuse();
  }

  /** The caller whose region has most, if it is more than `least`. */
  private greediest(keys: QueueKeys, least: number): Waiting | undefined {
    let greediest: Waiting | undefined;
    let most = least;
    for (const other of this.line.latestOfOthers(keys)) {
      const share = this.regions.of(other.region);
      if (share > most) [greediest, most] = [other, share];
    }
    return greediest;
  }

  release(key: QueueKey): void {
    this.working.add(key, -1);
    this.permits++;
    for (let next = this.next(); next; next = this.next()) {
      this.take(next.key);
      next.begin();
    }
  }

  private isFreeFor(key: QueueKey): boolean {
    return this.permits > 0 && this.mayBegin(this.working.of(key), this.permits);
  }

  private next(): Waiting | undefined {
    if (this.permits === 0) return undefined;
    return this.line.next((key) => this.isFreeFor(key));
  }
}

function tooMany(): ServiceUnavailableException {
  return new ServiceUnavailableException('Too many wait for this already');
}

function notWanted(): ServiceUnavailableException {
  return new ServiceUnavailableException('Nobody waits for the result any more');
}
