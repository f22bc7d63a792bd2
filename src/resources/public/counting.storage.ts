import type { ThrottlerStorage } from '@nestjs/throttler';
import type { Counter } from '../../platform/features';

/** Makes ThrottlerGuard count like the other limits. Its own storage scans an entry for each hit. */
export class CountingStorage implements ThrottlerStorage {
  constructor(private readonly counter: Counter) {}

  async increment(key: string, _ttl: number, limit: number) {
    const { hits, resetsIn } = await this.counter.hit(key);
    return { totalHits: hits, timeToExpire: resetsIn, isBlocked: hits > limit, timeToBlockExpire: resetsIn };
  }
}
