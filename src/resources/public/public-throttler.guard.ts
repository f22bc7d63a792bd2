import { type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { ThrottlerGuard, type ThrottlerRequest } from '@nestjs/throttler';
import { RateLimits, RouteMetadata, seconds } from '../../platform';
import { CountingStorage } from './counting.storage';
import { PublicSettings } from './public-settings';

/**
 * ThrottlerGuard, with the header fields that clients understand instead of `X-RateLimit-*`:
 * https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/
 *
 * Without ThrottlerModule, which is global: the throttlers of an application are its own to configure.
 */
@Injectable()
export class PublicThrottlerGuard extends ThrottlerGuard {
  constructor(
    // By their tokens: Nest would go by those that ThrottlerGuard asks for.
    @Inject(PublicSettings) { PUBLIC_RATE_LIMIT: limit, PUBLIC_RATE_WINDOW: window }: PublicSettings,
    @Inject(RateLimits) limits: RateLimits,
  ) {
    const storage = new CountingStorage(limits.counter('public', limit, window));
    super([{ limit, ttl: seconds(window) }], storage, new RouteMetadata());
  }

  /** The address itself: there is one limit, and its counter keeps its keys apart. A hash would cost more than counting. */
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
    this.setResponseHeader(res, 'Retry-After', timeToBlockExpire);
    await this.throwThrottlingException(context, { limit, ttl, key, tracker, ...record });
    return false;
  }
}
