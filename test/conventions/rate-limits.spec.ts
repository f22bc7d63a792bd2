import { RateLimits } from '../../src/platform/limits/rate-limits';
import type { Settings } from '../../src/platform/config/settings';
import { waitFor } from '../../src/platform/testing';
import { memory } from '../support/memory';

describe.each([
  ['in this process', ''],
  ['in Redis, where there is one', process.env.REDIS_URL ?? ''],
])('A hit that is given back, counted %s', (_where, url) => {
  const limits = new RateLimits({ REDIS_URL: url } as Settings);
  // Until then each process counts by itself.
  beforeAll(() => waitFor(() => !limits['redis'] || limits['redis'].status === 'ready'));
  afterAll(() => limits.onApplicationShutdown());
  const counterFor = (window: number) => limits.counter(`test-${process.pid}-${Date.now()}`, 5, window);

  it('counts no more', async () => {
    const counter = counterFor(60);
    const [first] = [await counter.hit('a'), await counter.hit('a')];
    await counter.giveBack('a', first);

    expect((await counter.peek('a')).hits).toBe(1);
  });

  it('takes nothing from the next window', async () => {
    const counter = counterFor(1);
    const first = await counter.hit('a');
    await waitFor(async () => (await counter.peek('a')).hits === 0);
    await counter.giveBack('a', first);
    expect((await counter.peek('a')).hits).toBe(0);
    await counter.hit('a');
    await counter.giveBack('a', first);

    expect((await counter.peek('a')).hits).toBe(1);
  });

  it('leaves no less than nothing', async () => {
    const counter = counterFor(60);
    const first = await counter.hit('a');
    await counter.forget('a');
    await counter.giveBack('a', first);

    expect((await counter.peek('a')).hits).toBe(0);
  });
});

describe('Keys that are counted in this process', () => {
  const limits = new RateLimits({ REDIS_URL: '' } as Settings);

  it('take little memory, however long the names are that strangers type', async () => {
    const counter = limits.counter('names', 5, 60);
    const nameOf = (index: number) => Buffer.alloc(4_000, `${index}, and `).toString('hex');
    const before = memory();
    for (let index = 0; index < 2_000; index++) await counter.hit(nameOf(index));

    // 16 MB of names.
    expect(memory() - before).toBeLessThan(8_000_000);
    expect((await counter.peek(nameOf(7))).hits).toBe(1);
  });
});
