import { availableParallelism } from 'node:os';
import { hashing } from '../../src/platform/auth/passwords';
import { countStatuses, RowLock, times, waitFor } from '../../src/platform/testing';
import { useTestApi } from '../support/test-api';

jest.setTimeout(120_000);

describe('Many requests of one network', () => {
  const MANY = 130;
  const SEARCHES = 3;
  const api = useTestApi({
    settings: {
      REDIS_URL: '',
      TRUST_PROXY: '1',
      SEARCH_CONNECTIONS: String(SEARCHES),
      SEARCH_TIMEOUT: '20000',
      LOGIN_ADDRESS_LIMIT: '1000',
      LOGIN_ACCOUNT_LIMIT: '1000',
    },
  });
  const from = (network: number) => api.with({ 'X-Forwarded-For': `10.${network}.0.1` });

  /** More searches of one network than run and wait. All of them are there when it resolves. */
  async function floodOf(text: string) {
    const counts = { refused: 0, tooSlow: 0 };
    const all = times(MANY, async () => {
      const { status, body } = await from(1).get(`/products?search=${text}`);
      if (status !== 503) return;
      if (String(body.error.message).includes('too long')) counts.tooSlow++;
      else counts.refused++;
    });
    await waitFor(() => counts.refused >= MANY - 100 - SEARCHES);
    return { counts, all: Promise.all(all) };
  }

  it.each([
    ['espresso', SEARCHES - 1],
    ['e', 1],
  ])('that search for “%s” leave strangers a place', async (text, running) => {
    const lock = await RowLock.ofTable(api.app.databaseUrl, 'products');
    const { counts, all } = await floodOf(text);
    await waitFor(() => counts.refused === MANY - 100 - running);
    const strangers = times(5, (index) => from(2 + index).get(`/products?search=${text}`));
    // One has a connection at once, and one of those who wait gives way to each of the others.
    await waitFor(() => counts.refused >= MANY - 100 - running + strangers.length - 1);
    await lock.release();

    expect(countStatuses(await Promise.all(strangers))).toEqual({ 200: strangers.length });
    await all;
  });

  it.each(['espresso', 'e'])(
    'that search for “%s” and take all of their time leave a stranger a connection',
    async (text) => {
      const lock = await RowLock.ofTable(api.app.databaseUrl, 'products');
      try {
        const { counts, all } = await floodOf(text);

        expect(await from(2).get(`/posts?search=${text}`)).toMatchObject({ status: 200 });
        expect(counts.tooSlow).toBe(0);
        await lock.release();
        await all;
      } finally {
        await lock.release();
      }
    },
  );

  it('and of others that search for a text that repeats itself leave a stranger a connection', async () => {
    const lock = await RowLock.ofTable(api.app.databaseUrl, 'products');
    try {
      const many = times(5, (index) => from(1 + index).get(`/products?search=${'ab'.repeat(20)}c`));
      await waitFor(async () => (await lock.waiting()) >= 2);

      for (const text of ['espresso', 'Anna', 'papa']) {
        expect(await from(9).get(`/posts?search=${text}`)).toMatchObject({ status: 200 });
      }
      expect(await lock.waiting()).toBe(2);
      await lock.release();
      expect(countStatuses(await Promise.all(many))).toEqual({ 200: 5 });
    } finally {
      await lock.release();
    }
  });

  it('that sign in leave strangers a place among the hashes', async () => {
    const user = await api.user();
    let free = () => undefined as void;
    const freed = new Promise<void>((resolve) => (free = resolve));
    const held = times(Math.min(availableParallelism(), 3), () => hashing.run(() => freed));
    let refused = 0;
    const flood = times(MANY, async () => {
      const answer = await from(1).post('/auth/tokens', { username: 'nobody at all', password: 'wrong' });
      if (answer.status === 503) refused++;
    });
    await waitFor(() => refused >= MANY - 100);
    const stranger = from(2).post('/auth/tokens', { username: user.username, password: user.password });
    await waitFor(() => refused > MANY - 100);
    free();

    expect((await stranger).status).toBe(201);
    await Promise.all([...held, ...flood]);
  });

  it('and those of a hundred scattered networks that come again leave a stranger a place', async () => {
    const IN_LINE = 100;
    const user = await api.user();
    let refused = 0;
    const signIn = async (network: number) => {
      const client = api.with({ 'X-Forwarded-For': `172.${network}.0.1` });
      const { status } = await client.post('/auth/tokens', { username: 'nobody at all', password: 'wrong' });
      if (status === 503) refused++;
    };
    /** One of each network, until all wait. */
    const fillLine = async () => {
      let free = () => undefined as void;
      const freed = new Promise<void>((resolve) => (free = resolve));
      const held = times(Math.min(availableParallelism(), 3), () => hashing.run(() => freed));
      const crowd = times(IN_LINE, signIn);
      await waitFor(() => hashing['queue'].size === IN_LINE);
      return { free, all: Promise.all([...held, ...crowd]) };
    };
    const first = await fillLine();
    first.free();
    await first.all;
    const again = await fillLine();
    const stranger = api
      .with({ 'X-Forwarded-For': '172.200.0.1' })
      .post('/auth/tokens', { username: user.username, password: user.password });
    await waitFor(() => refused === 1);
    again.free();

    expect((await stranger).status).toBe(201);
    await again.all;
    expect(refused).toBe(1);
  });
});

describe('Lists that cost much', () => {
  const api = useTestApi({ settings: { TRUST_PROXY: '1', DATABASE_POOL_SIZE: '5', SEARCH_TIMEOUT: '20000' } });

  it('leave connections to all else, and networks take turns', async () => {
    const user = await api.user();
    await api.as(user).post('/posts', { title: 'One', content: 'One' });
    const lock = await RowLock.ofTable(api.app.databaseUrl, 'posts');
    const finished: string[] = [];
    const ask = async (address: string, index: number) => {
      const answer = await api.get(`/posts?sort=title&size=${1 + index}`, { 'X-Forwarded-For': address });
      finished.push(address);
      return answer;
    };
    const many = times(40, (index) => ask('192.0.2.1', index));
    await waitFor(async () => (await lock.waiting()) === 2);
    const one = ask('198.51.100.1', 0);
    // What needs a connection, and no such list, goes on.
    expect(await api.as(user).get('/users/profile')).toMatchObject({ status: 200 });
    await lock.release();

    expect(countStatuses(await Promise.all([...many, one]))).toEqual({ 200: 41 });
    expect(finished.indexOf('198.51.100.1')).toBeLessThan(20);
  });

  it('leave connections to all else together with searches, and one of their own to another network', async () => {
    const user = await api.user();
    const lock = await RowLock.ofTable(api.app.databaseUrl, 'posts');
    try {
      const from = (address: string, path: string) => api.get(path, { 'X-Forwarded-For': address });
      const many = times(6, (index) => from('192.0.2.1', `/posts?sort=title&size=${1 + index}`));
      const searches = ['192.0.2.1', '198.51.100.1'].flatMap((address) =>
        times(2, () => from(address, '/posts?search=one')),
      );
      await waitFor(async () => (await lock.waiting()) >= 3);
      for (const one of times(5, () => api.as(user)))
        expect(await one.get('/users/profile')).toMatchObject({ status: 200 });
      expect(await lock.waiting()).toBe(3);
      await lock.release();

      expect(countStatuses(await Promise.all([...many, ...searches]))).toEqual({ 200: 10 });
    } finally {
      await lock.release();
    }
  });
});
