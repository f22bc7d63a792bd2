import { type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { ThrottlerGuard, type ThrottlerRequest } from '@nestjs/throttler';
import { seconds } from '../../platform';
import { networkOf, rateLimited, RateLimits } from '../../platform/features';
import { CountingStorage } from './counting.storage';
import { PublicSettings } from './public-settings';
import { ThrottlerReflector } from './throttler-reflector';

/**
 * ThrottlerGuard with the standard header fields instead of `X-RateLimit-*`:
 * https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/
 *
 * It doesn't use ThrottlerModule, which is global: an application configures its own throttlers there.
 */
@Injectable()
export class PublicThrottlerGuard extends ThrottlerGuard {
  constructor(
    // Injected explicitly, because Nest would use the parameter types of ThrottlerGuard.
    @Inject(PublicSettings) { PUBLIC_RATE_LIMIT: limit, PUBLIC_RATE_WINDOW: window }: PublicSettings,
    @Inject(RateLimits) limits: RateLimits,
  ) {
    const storage = new CountingStorage(limits.counter('public', limit, window));
    super([{ limit, ttl: seconds(window) }], storage, new ThrottlerReflector());
  }

  /** A client that has gone has no address any more. */
  protected override getTracker({ ip }: { ip?: string }): Promise<string> {
    return Promise.resolve(networkOf(ip));
  }

  /**
   * The key is the address itself: there is one limit, whose counter has its own prefix. Hashing would cost more than
   * counting.
   */
  protected override generateKey(_context: ExecutionContext, tracker: string): string {
    return tracker;
  }

  protected override async handleRequest(properties: ThrottlerRequest): Promise<boolean> {
    const { context, limit, ttl, throttler, blockDuration, getTracker, generateKey } = properties;
    const { req, res } = this.getRequestResponse(context);
    const tracker = await getTracker(req, context);
    const key = generateKey(context, tracker, throttler.name ?? 'default');
    const record = await this.storageService.increment(key, ttl, limit, blockDuration, 'default');
    const { totalHits, timeToExpire, timeToBlockExpire, isBlocked } = record;
    this.setResponseHeader(res, 'RateLimit-Policy', `"default";q=${limit};w=${ttl / seconds(1)}`);
    this.setResponseHeader(res, 'RateLimit', `"default";r=${Math.max(0, limit - totalHits)};t=${timeToExpire}`);
    if (!isBlocked) return true;
    rateLimited.add({ limit: 'public' });
    this.setResponseHeader(res, 'Retry-After', timeToBlockExpire);
    await this.throwThrottlingException(context, { limit, ttl, key, tracker, ...record });
    return false;
  }
}
