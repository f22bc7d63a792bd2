import { Reflector } from '@nestjs/core';
import { SkipThrottle, Throttle } from '@nestjs/throttler';
import { ThrottlerReflector } from '../../src/resources/public/throttler-reflector';

class Plain {
  @Throttle({ default: { limit: 2, ttl: 3 } })
  decorated(): void {}

  @SkipThrottle()
  skipped(): void {}

  plain(): void {}
}

@Throttle({ default: { limit: 5, ttl: 6 } })
class Decorated {
  plain(): void {}
}

class Inheriting extends Decorated {
  @Throttle({ default: { limit: 7, ttl: 8 } })
  own(): void {}
}

describe('ThrottlerReflector', () => {
  const KEYS = ['LIMIT', 'TTL', 'SKIP', 'TRACKER', 'BLOCK_DURATION', 'KEY_GENERATOR'];

  it.each([
    ['a decorated method', 'decorated', Plain, 2],
    ['a skipped method', 'skipped', Plain, undefined],
    ['a method without a decorator', 'plain', Plain, undefined],
    ['a method of a decorated class', 'plain', Decorated, 5],
    ['a method that is inherited from a decorated class', 'plain', Inheriting, 5],
    ['a decorated method of a class that inherits decorators', 'own', Inheriting, 7],
  ])("finds what Nest's reflector finds for %s", (_case, name, controller, limit) => {
    const handler = (controller.prototype as unknown as Record<string, () => void>)[name];
    const reflector = new ThrottlerReflector();
    const found = (one: Reflector) =>
      KEYS.map((key): unknown => one.getAllAndOverride(`THROTTLER:${key}default`, [handler, controller]));
    expect(found(reflector)).toEqual(found(new Reflector()));
    // If the library renamed its keys, both would find nothing.
    expect(found(reflector)[0]).toBe(limit);
    // The second time it is remembered.
    expect(found(reflector)).toEqual(found(new Reflector()));
  });
});
