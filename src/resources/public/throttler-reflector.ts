import { Reflector } from '@nestjs/core';
import { PerRoute } from '../../platform/features';

type Targets = Parameters<Reflector['getAllAndOverride']>[1];

const BY_THROTTLER = 'THROTTLER:';

/**
 * Knows which routes have decorators of @nestjs/throttler. ThrottlerGuard looks for six decorators at each request, by
 * keys that it joins each time, and reflect-metadata searches all prototypes: a twentieth of GET /public. For a route
 * without such a decorator no key is read and nothing is searched.
 */
export class ThrottlerReflector extends Reflector {
  private readonly decorated = new PerRoute((...targets) => targets.some(hasDecorator));

  override getAllAndOverride<Key, Value>(key: Key, targets: Targets): Value {
    const [handler, controller] = targets as Parameters<typeof this.decorated.for>;
    if (!this.decorated.for(handler, controller)) return undefined as Value;
    return super.getAllAndOverride<unknown>(key, targets) as Value;
  }
}

function hasDecorator(target: object): boolean {
  return Reflect.getMetadataKeys(target).some((key) => String(key).startsWith(BY_THROTTLER));
}
