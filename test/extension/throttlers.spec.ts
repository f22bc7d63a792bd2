import { Controller, Get, Module, UseGuards } from '@nestjs/common';
import { SkipThrottle, Throttle, ThrottlerGuard, ThrottlerModule } from '@nestjs/throttler';
import { Public } from '../../src/platform';
import { waitFor } from '../../src/platform/testing';
import { startApp } from '../support/test-app';
import { useTestApi } from '../support/test-api';

/** Much less than the minute that other limits have here, and enough for a few requests. */
const TTL = 3_000;

@Controller('throttled')
@Public()
@UseGuards(ThrottlerGuard)
class ThrottledController {
  @Get()
  get(): object {
    return {};
  }

  @Get('seldom')
  @Throttle({ long: { ttl: TTL, limit: 1 } })
  seldom(): object {
    return {};
  }

  @Get('always')
  @SkipThrottle({ short: true, long: true })
  always(): object {
    return {};
  }
}

@Module({ controllers: [ThrottledController] })
class ThrottledModule {}

@Controller('greeted')
@Public()
class GreetedController {
  @Get()
  @Throttle({ default: { ttl: TTL, limit: 1 } })
  @UseGuards(ThrottlerGuard)
  get(): object {
    return {};
  }
}

/** Without Redis, where other tests count as well. */
const settings = { REDIS_URL: '', PUBLIC_RATE_LIMIT: '4' };

describe("A team's throttlers", () => {
  const named = ThrottlerModule.forRoot([
    { name: 'short', ttl: 1_000, limit: 100 },
    { name: 'long', ttl: 60_000, limit: 3 },
  ]);
  const api = useTestApi({ settings, imports: [named, ThrottledModule] });
  const statusesOf = async (path: string, count: number) => {
    const statuses: number[] = [];
    while (statuses.length < count) statuses.push((await api.get(path)).status);
    return statuses;
  };

  it('have their own limits and times, by their names', async () => {
    expect(await statusesOf('/throttled', 4)).toEqual([200, 200, 200, 429]);
    const { headers, body } = await api.get('/throttled');
    expect(body.error.code).toBe('TOO_MANY_REQUESTS');
    expect(Number(headers.get('retry-after-long'))).toBeGreaterThan(30);
    expect((await api.get('/throttled')).headers.get('x-ratelimit-limit-short')).toBe('100');
  });

  it('have those that a route gives them', async () => {
    expect(await statusesOf('/throttled/seldom', 2)).toEqual([200, 429]);
    await waitFor(async () => (await api.get('/throttled/seldom')).status === 200);
  });

  it('leave out what skips them', async () => {
    expect(await statusesOf('/throttled/always', 10)).toEqual(Array(10).fill(200));
  });

  it('leave the limit of /public alone', async () => {
    const { headers } = await api.get('/public');
    expect(headers.get('ratelimit-policy')).toBe('"default";q=4;w=60');
    expect(await statusesOf('/public', 4)).toEqual([200, 200, 200, 429]);
  });
});

describe('A throttler without a name', () => {
  @Module({ imports: [ThrottlerModule.forRoot([{ ttl: 60_000, limit: 10 }])], controllers: [GreetedController] })
  class GreetedModule {}
  const api = useTestApi({ settings, imports: [GreetedModule] });

  it('takes the time of @Throttle(), in a module that imports its own', async () => {
    expect((await api.get('/greeted')).status).toBe(200);
    const { status, headers } = await api.get('/greeted');
    expect(status).toBe(429);
    expect(['1', '2', '3']).toContain(headers.get('retry-after'));
    await waitFor(async () => (await api.get('/greeted')).status === 200);
  });

  it('that no module makes stops the start', async () => {
    @Module({ controllers: [GreetedController] })
    class BareModule {}
    const start = startApp({ imports: [BareModule] }).then((app) => app.stop());

    await expect(start).rejects.toThrow(/ThrottlerGuard.*THROTTLER:MODULE_OPTIONS/s);
  });
});
