import { ServiceUnavailableException } from '@nestjs/common';
import { regionOf } from './client-network';
import { FairLine, type LineKey, type LineKeys } from './fair-line';
import { RegionalShares } from './regional-shares';
import { Tally } from './tally';

/** What waits for its turn. */
interface Waiting {
  key: LineKey;
  region: string;
  begin: () => void;
  refuse: () => void;
}

/**
 * Lets so many work at once, has so many others wait, and turns the rest away. Those who wait have keys, e.g. the network that
 * they come from: each key gets its turn after the other, and when all places are taken whoever holds most gives way. Where
 * nobody holds more than a newcomer would, as many networks hold one place each, the region gives way that has had most of late.
 */
export class Semaphore {
  private readonly line = new FairLine<Waiting>();
  private readonly regions = new RegionalShares();
  /** Of each widest key how many work. */
  private readonly working = new Tally<LineKey>();

  /**
   * @param permits how many may work at once
   * @param maxWaiting how many may wait for that
   * @param mayBegin whether a key of which so many work may begin one more, while so many permits are free
   */
  constructor(
    private permits: number,
    private readonly maxWaiting: number,
    private readonly mayBegin: (working: number, free: number) => boolean = () => true,
  ) {}

  /**
   * @param work told whether it has waited
   * @param signal takes the work out of the queue; what has begun runs on
   * @param keys on whose behalf it is
   * @throws {ServiceUnavailableException} when too many wait, or the signal is aborted before the work begins
   */
  async run<T>(work: (waited: boolean) => Promise<T>, signal?: AbortSignal, keys: LineKeys = ['']): Promise<T> {
    if (signal?.aborted) throw notWanted();
    const [key] = keys;
    const waits = !this.take(key);
    if (waits) await this.turn(keys, signal);
    try {
      return await work(waits);
    } finally {
      this.release(key);
    }
  }

  /** Takes a permit that is free, which has to be released. @returns whether there was one for this key */
  take(key: LineKey): boolean {
    if (!this.isFreeFor(key)) return false;
    this.permits--;
    this.working.add(key, 1);
    return true;
  }

  /**
   * Resolves with the permit of somebody who has finished, which has to be released.
   * @throws as {@link run}, but for a signal that was aborted before
   */
  turn(keys: LineKeys, signal: AbortSignal | undefined): Promise<void> {
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

  /** Nobody gives way to who would have as much then: that would only change who waits. */
  private makeRoomFor(keys: LineKeys, region: string): void {
    const other = this.line.latestOfLonger(keys) ?? this.greediest(keys, this.regions.of(region) + 1);
    if (!other) throw tooMany();
    other.refuse();
  }

  /** Whose region has most, if that is more than so much. */
  private greediest(keys: LineKeys, least: number): Waiting | undefined {
    let greediest: Waiting | undefined;
    let most = least;
    for (const other of this.line.latestOfOthers(keys)) {
      const share = this.regions.of(other.region);
      if (share > most) [greediest, most] = [other, share];
    }
    return greediest;
  }

  release(key: LineKey): void {
    this.working.add(key, -1);
    this.permits++;
    for (let next = this.next(); next; next = this.next()) {
      this.take(next.key);
      next.begin();
    }
  }

  private isFreeFor(key: LineKey): boolean {
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
