import { type Answer, times, waitFor } from '../../src/platform/testing';
import { TcpProxy } from '../support/tcp-proxy';
import { TestApi } from '../support/test-api';
import { startApp } from '../support/test-app';

const { REDIS_URL } = process.env;
const withRedis = REDIS_URL ? describe : describe.skip;
/** What the first request without Redis may take, in milliseconds: far less than a time limit, on a busy machine too. */
const QUICK = 2_500;
const AWAY = /^Counting in this process alone/;
const BACK = /^Counting together/;

withRedis('Without an answer from Redis', () => {
  const proxy = new TcpProxy();
  const api = new TestApi();
  const client = () => api.with({ 'X-Forwarded-For': someAddress() });
  const messages = (pattern: RegExp) => api.app.log.filter(({ msg }) => pattern.test(String(msg)));

  beforeAll(async () => {
    const settings = {
      REDIS_URL: await proxy.start(REDIS_URL!),
      TRUST_PROXY: '1',
      PUBLIC_RATE_LIMIT: '2',
      LOGIN_RATE_LIMIT: '2',
    };
    api.app = await startApp({ settings });
  });
  afterEach(() => proxy.accept());
  afterAll(async () => {
    await api.app.stop();
    proxy.stop();
  });

  describe.each([
    ['it hangs', () => proxy.fallSilent()],
    ['it refuses connections', () => proxy.refuse()],
  ])('because %s', (_why, fail) => {
    it.each<[string, (one: ReturnType<typeof client>) => Promise<Answer>, number]>([
      ['GET /public', (one) => one.get('/public'), 200],
      ['POST /auth/tokens', (one) => one.post('/auth/tokens', { username: 'nobody', password: 'wrong' }), 401],
    ])('%s answers at once, and its limit goes on in this process', async (_route, ask, status) => {
      await waitFor(() => messages(AWAY).length === messages(BACK).length);
      expect(await ask(client())).toMatchObject({ status });
      fail();
      const one = client();
      const start = performance.now();
      const answers = [await ask(one), await ask(one), await ask(one)];

      expect(performance.now() - start).toBeLessThan(QUICK);
      expect(answers.map((answer) => answer.status)).toEqual([status, status, 429]);
    });
  });

  it('one line says that it is away, however many requests come, and one that it is back', async () => {
    await waitFor(() => messages(AWAY).length === messages(BACK).length);
    const before = messages(AWAY).length;
    proxy.fallSilent();
    await Promise.all(times(50, () => client().get('/public')));
    await waitFor(() => messages(AWAY).length > before);
    await Promise.all(times(50, () => client().get('/public')));

    expect(messages(AWAY)).toHaveLength(before + 1);
    proxy.accept();
    await waitFor(() => messages(BACK).length === before + 1);
  });

  it('limits count together again as soon as it is back', async () => {
    const other = new TestApi();
    other.app = await startApp({ settings: { REDIS_URL: REDIS_URL!, TRUST_PROXY: '1', PUBLIC_RATE_LIMIT: '2' } });
    const countTogether = async () => {
      const headers = { 'X-Forwarded-For': someAddress() };
      const answers = [];
      for (const one of [api, other, api]) answers.push(await one.get('/public', headers));
      return answers.map(({ status }) => status).join() === '200,200,429';
    };
    try {
      proxy.fallSilent();
      expect(await countTogether()).toBe(false);
      proxy.accept();

      await waitFor(countTogether);
    } finally {
      await other.app.stop();
    }
  });
});

/** One that nothing was counted for, as Redis outlives the tests. */
function someAddress(): string {
  const hextets = times(2, () => Math.floor(Math.random() * 0x10000).toString(16));
  return `2001:db8:${hextets.join(':')}::1`;
}
