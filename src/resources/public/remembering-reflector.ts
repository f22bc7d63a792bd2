import { Reflector } from '@nestjs/core';
import { PerRoute } from '../../platform/features';

type Targets = Parameters<Reflector['getAllAndOverride']>[1];

/**
 * Remembers what decorators say about a route. ThrottlerGuard asks for six of them at each request, and reflect-metadata
 * searches all prototypes each time: a twentieth of GET /public.
 */
export class RememberingReflector extends Reflector {
  private readonly known = new Map<unknown, PerRoute<unknown>>();

  override getAllAndOverride<Key, Value>(key: Key, [handler, controller]: Targets): Value {
    let ofKey = this.known.get(key);
    if (!ofKey) {
      ofKey = new PerRoute((...targets) => super.getAllAndOverride<unknown>(key, targets));
      this.known.set(key, ofKey);
    }
    return ofKey.for(handler, controller as Parameters<typeof ofKey.for>[1]) as Value;
  }
}
