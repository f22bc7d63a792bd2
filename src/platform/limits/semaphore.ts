import { ServiceUnavailableException } from '@nestjs/common';
import { BoundedQueue, type Queued } from './bounded-queue';
import type { QueueKey, QueueKeys } from './fair-queue';
import { Tally } from './tally';

/** Milliseconds. What was looked up before a shorter wait is no older than without a queue, where work takes as long. */
export const LONG = 50;

/** What tells that somebody no longer waits: an AbortSignal, or what costs less. */
export interface Leaving {
  readonly aborted: boolean;
  addEventListener(type: 'abort', onAbort: () => void, options: { once: true }): void;
  removeEventListener(type: 'abort', onAbort: () => void): void;
}

/** A waiting caller. */
interface Waiting extends Queued {
  begin: () => void;
}

/**
 * Limits how many callers work at once and how many wait. Others are refused. Waiting callers have keys, e.g. the
 * network of their client, and keys take turns as in a {@link BoundedQueue}.
 */
export class Semaphore {
  private readonly queue: BoundedQueue<Waiting>;
  /** The number of working callers of each widest key, and of each narrowest one. */
  private readonly working = new Tally<QueueKey>();
  private readonly narrowest = new Tally<QueueKey>();

  /**
   * @param permits how many may work at once
   * @param maxWaiting how many may wait
   * @param mayBegin whether a caller may have another permit while `free` are left, whose widest key has `working` of them,
   * whose narrowest key has `narrowest`, and whose widest key has `together` permits of all semaphores with the same tally.
   * Whoever waits hears of this semaphore's releases only, so `together` must not keep a key without a permit waiting
   * @param together counts the working callers of each widest key, of several semaphores. Default: of this one
   */
  constructor(
    private permits: number,
    maxWaiting: number,
    private readonly mayBegin: (working: number, free: number, narrowest: number, together: number) => boolean = () =>
      true,
    private readonly together?: Tally<QueueKey>,
  ) {
    this.queue = new BoundedQueue(maxWaiting);
  }

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
    const waitedLong =
      !this.take(keys) && (await this.waitLong(keys, typeof signal === 'function' ? signal() : signal));
    try {
      return await work(waitedLong);
    } finally {
      this.release(keys);
    }
  }

  private async waitLong(keys: QueueKeys, signal: AbortSignal | undefined): Promise<boolean> {
    const start = performance.now();
    await this.turn(keys, signal);
    return performance.now() - start > LONG;
  }

  /** How many callers wait. */
  get waiting(): number {
    return this.queue.size;
  }

  /** Whether there is a free permit for a caller with these keys. */
  isFreeFor(keys: QueueKeys): boolean {
    if (this.permits === 0) return false;
    const working = this.working.of(keys[0]);
    const narrowest = this.narrowest.of(keys[keys.length - 1]);
    return this.mayBegin(working, this.permits, narrowest, this.together?.of(keys[0]) ?? working);
  }

  /** Takes a free permit, which must be released. @returns false if there is none for these keys */
  take(keys: QueueKeys): boolean {
    if (!this.isFreeFor(keys)) return false;
    this.count(keys, 1);
    return true;
  }

  /**
   * Resolves with the permit of somebody who has finished, which has to be released.
   * @throws as {@link run}
   */
  turn(keys: QueueKeys, signal: Leaving | undefined): Promise<void> {
    if (signal?.aborted) return Promise.reject(notWanted());
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        this.queue.remove(waiting);
        reject(notWanted());
      };
      const waiting: Waiting = {
        keys,
        begin: () => {
          signal?.removeEventListener('abort', onAbort);
          resolve();
        },
        refuse: () => {
          signal?.removeEventListener('abort', onAbort);
          reject(tooMany());
        },
      };
      if (!this.queue.add(waiting)) return reject(tooMany());
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  release(keys: QueueKeys): void {
    this.count(keys, -1);
    for (let next = this.next(); next; next = this.next()) {
      this.take(next.keys);
      next.begin();
    }
  }

  private count(keys: QueueKeys, more: number): void {
    this.permits -= more;
    this.working.add(keys[0], more);
    this.together?.add(keys[0], more);
    this.narrowest.add(keys[keys.length - 1], more);
  }

  private next(): Waiting | undefined {
    if (this.permits === 0) return undefined;
    return this.queue.next((keys) => this.isFreeFor(keys));
  }
}

function tooMany(): ServiceUnavailableException {
  return new ServiceUnavailableException('Too many wait for this already');
}

function notWanted(): ServiceUnavailableException {
  return new ServiceUnavailableException('Nobody waits for the result any more');
}
