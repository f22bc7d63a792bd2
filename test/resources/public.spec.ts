import { randomBytes } from 'node:crypto';
import { type MiddlewareConsumer, Module, type NestModule } from '@nestjs/common';
import type { RequestHandler } from 'express';
import { type Answer, type Client, expectError, times, waitFor } from '../../src/platform/testing';
import { useTestApi } from '../support/test-api';

/** With Redis, counters outlive a test run: each test counts for a client of its own. */
const aNetwork = () => `2001:db8:${randomBytes(4).toString('hex').match(/..../g)!.join(':')}`;
const anAddress = () => `${aNetwork()}::1`;
const statuses = async (count: number, send: () => Promise<Answer>) => {
  const seen: number[] = [];
  for (let sent = 0; sent < count; sent++) seen.push((await send()).status);
  return seen;
};

describe('GET /public', () => {
  const LIMIT = 3;
  const TEXT = 'text/plain; charset=utf-8';
  const settings = { PUBLIC_RATE_LIMIT: String(LIMIT), PUBLIC_RATE_WINDOW: '30' };
  const api = useTestApi({ settings: { ...settings, TRUST_PROXY: '1' } });
  const other = useTestApi({ settings: { ...settings, TRUST_PROXY: '2' } });
  const from = (address: string, client: Client = api) => client.with({ 'X-Forwarded-For': address });

  it('is plain text for anyone, and says how many requests are left', async () => {
    const client = from(anAddress());
    const left = [];
    for (let sent = 0; sent < LIMIT; sent++) {
      const answer = await client.get('/public', { Authorization: 'Bearer nonsense' });
      expect(answer).toMatchObject({ status: 200, text: 'Hello from the public resource.' });
      expect(answer.headers.get('content-type')).toBe(TEXT);
      expect(answer.headers.get('ratelimit-policy')).toBe(`"default";q=${LIMIT};w=30`);
      expect(answer.headers.get('ratelimit')).toMatch(/^"default";r=\d+;t=([1-9]|[12]\d|30)$/);
      left.push(/r=(\d+)/.exec(answer.headers.get('ratelimit')!)![1]);
    }
    expect(left).toEqual(['2', '1', '0']);
  });

  it('is plain text when it is too much, and says when to come again', async () => {
    const client = from(anAddress());
    await statuses(LIMIT, () => client.get('/public'));

    const answer = await client.get('/public');

    expect(answer).toMatchObject({ status: 429, text: 'Too many requests. Please try again later.' });
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': TEXT,
      'cache-control': 'no-store',
      'retry-after': expect.stringMatching(/^(29|30)$/),
      ratelimit: expect.stringMatching(/^"default";r=0;t=(29|30)$/),
      'x-request-id': expect.stringMatching(/\S/),
    });
    expect([...answer.headers.keys()].filter((name) => /^retry-after-|^x-ratelimit/.test(name))).toEqual([]);
    expect(await client.head('/public')).toMatchObject({ status: 429, text: '' });
  });

  it('counts exactly, however many ask at once', async () => {
    const client = from(anAddress());
    const answers = await Promise.all(times(20, () => client.get('/public')));

    expect(answers.filter(({ status }) => status === 200)).toHaveLength(LIMIT);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(20 - LIMIT);
  });

  it('counts each address by itself, and nothing else that anyone sends', async () => {
    const client = from(anAddress());
    await statuses(LIMIT, () => client.get('/public'));

    expect(await from(anAddress()).get('/public')).toMatchObject({ status: 200 });
    expect(await client.get('/public', { 'User-Agent': 'another', 'X-Real-IP': anAddress() })).toMatchObject({
      status: 429,
    });
    expectError(await client.get('/public?more=1'), 'VALIDATION_ERROR');
    expectError(await client.get('/users'), 'UNAUTHORIZED');
  });

  it('counts a whole network of IPv6 as one client, for one client has it', async () => {
    const network = aNetwork();
    await statuses(LIMIT, () => from(`${network}::1`).get('/public'));

    expect(await from(`${network}:a:b:c:d`).get('/public')).toMatchObject({ status: 429 });
  });

  it('believes as many proxies as the setting says, counted from the nearest', async () => {
    const [first, second] = [anAddress(), anAddress()];

    expect(await statuses(4, () => from(`${anAddress()}, ${first}`).get('/public'))).toEqual([200, 200, 200, 429]);
    expect(await statuses(4, () => from(`${anAddress()}, ${second}, ${anAddress()}`, other).get('/public'))).toEqual([
      200, 200, 200, 429,
    ]);
  });

  const withRedis = process.env.REDIS_URL ? it : it.skip;
  withRedis('counts together with the other instances', async () => {
    const address = anAddress();

    expect(await statuses(2, () => from(address).get('/public'))).toEqual([200, 200]);
    expect(await statuses(2, () => from(`${address}, ${anAddress()}`, other).get('/public'))).toEqual([200, 429]);
  });

  it('knows of HTTPS by a trusted proxy', async () => {
    const secure = await api.get('/public', { 'X-Forwarded-For': anAddress(), 'X-Forwarded-Proto': 'https' });

    expect(secure.headers.get('strict-transport-security')).toBe('max-age=31536000; includeSubDomains');
  });
});

describe('without a trusted proxy', () => {
  // Without Redis, so that this address was not counted yet.
  const api = useTestApi({ settings: { PUBLIC_RATE_LIMIT: '3', PUBLIC_RATE_WINDOW: '1', REDIS_URL: '' } });

  it('what a client says of its address and its protocol means nothing', async () => {
    const ask = () =>
      api.get('/public', {
        'X-Forwarded-For': anAddress(),
        'X-Forwarded-Proto': 'https',
        Forwarded: `for=${anAddress()}`,
      });

    // More than fit into two windows, should the first one end meanwhile.
    expect(await statuses(7, ask)).toContain(429);
    expect((await ask()).headers.has('strict-transport-security')).toBe(false);
  });

  it('serves again when the window is over', async () => {
    const isAnswered = (status: number) => async () => (await api.get('/public')).status === status;

    await waitFor(isAnswered(429));
    await waitFor(isAnswered(200));
  });
});

/** The address of a client that has gone can't be asked of its socket any more. */
@Module({})
class GoneModule implements NestModule {
  configure(consumer: MiddlewareConsumer): void {
    const forgetAddress: RequestHandler = (request, _response, next) => {
      Object.defineProperty(request, 'ip', { value: undefined });
      next();
    };
    consumer.apply(forgetAddress).forRoutes('{*path}');
  }
}

describe('GET /public of a client that has gone', () => {
  const api = useTestApi({ imports: [GoneModule] });

  it('is counted like any other', async () => {
    const { status, headers } = await api.get('/public');

    expect(status).toBe(200);
    expect(headers.get('ratelimit')).toMatch(/^"default";r=\d+/);
  });
});
