import { Reflector } from '@nestjs/core';
import { PerRoute } from '../../platform/features';

type Targets = Parameters<Reflector['getAllAndOverride']>[1];

const BY_THROTTLER = 'THROTTLER:';

/**
 * Knows which routes have decorators of @nestjs/throttler. ThrottlerGuard asks for six of them at each request, by
 * a key that it joins each time, and reflect-metadata searches all prototypes: a twentieth of GET /public. A route
 * without such a decorator is answered before the key is read.
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
