import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../../conventions/errors/api-error';

/** How long to wait for a place, in milliseconds: short requests that come all at once are served one after the other. */
const PATIENCE = 2_000;
const PAUSE = 50;
/** How many may wait, for each that may be at work. */
const WAITING = 4;

/** How many requests may be at work at once. */
export interface Limits {
  perUser: number;
  total: number;
}

/**
 * Lets so many requests work at once, so many of them of one user: each holds a lock, a file and buffers for as long as its
 * client takes. Others wait a moment, not many of them either, and are refused.
 */
export class Admission {
  private readonly working = new Tally();
  /** Those at work, and those who wait. */
  private readonly present = new Tally();

  constructor(private readonly limits: Limits) {}

  /** @throws {ApiError} TOO_MANY_REQUESTS for the user's own, SERVICE_UNAVAILABLE for those of all */
  async during<T>(user: number, work: () => Promise<T>): Promise<T> {
    const { perUser, total } = this.limits;
    const room = 1 + WAITING;
    if (!this.present.add(user, { perUser: perUser * room, total: total * room })) throw this.refusal(user);
    try {
      await this.take(user);
      try {
        return await work();
      } finally {
        this.working.remove(user);
      }
    } finally {
      this.present.remove(user);
    }
  }

  private async take(user: number): Promise<void> {
    for (const deadline = performance.now() + PATIENCE; !this.working.add(user, this.limits); await sleep(PAUSE)) {
      if (performance.now() > deadline) throw this.refusal(user);
    }
  }

  private refusal(user: number): ApiError {
    const { perUser } = this.limits;
    return this.working.of(user) < perUser ? tooManyOfAll() : tooManyOfOne(perUser);
  }
}

/** Counts by user; those with none take no memory. */
class Tally {
  private readonly counts = new Map<number, number>();
  private total = 0;

  of(user: number): number {
    return this.counts.get(user) ?? 0;
  }

  /** Returns whether there was room for another one. */
  add(user: number, { perUser, total }: Limits): boolean {
    if (this.total >= total || this.of(user) >= perUser) return false;
    this.total++;
    this.counts.set(user, this.of(user) + 1);
    return true;
  }

  remove(user: number): void {
    this.total--;
    if (this.of(user) > 1) this.counts.set(user, this.of(user) - 1);
    else this.counts.delete(user);
  }
}

/** 429 for a user who has too many requests to uploads open. */
export const tooManyOfOne = (limit: number): ApiError =>
  new ApiError('TOO_MANY_REQUESTS', {
    message: 'Too many of your uploads are under way',
    details: `No more than ${limit} at once; go on with this one when another is done`,
    headers: { 'Retry-After': '1' },
  });

const tooManyOfAll = (): ApiError =>
  new ApiError('SERVICE_UNAVAILABLE', { message: 'Too many uploads are under way, try again later' });
