import { EventEmitter } from 'node:events';
import { DataSource } from 'typeorm';
import { LargestSize } from '../../src/platform/answers/largest-size';
import { Role } from '../../src/platform/auth/caller';
import { paginate } from '../../src/platform';
import { Semaphore } from '../../src/platform/limits/semaphore';
import { LARGEST, type ListQuery, WORK } from '../../src/platform/lists/list-query';
import { expectError, RowLock, times, waitFor } from '../../src/platform/testing';
import { UnitOfWork } from '../../src/platform/transactions/unit-of-work';
import { Product } from '../../src/resources/products/product.entity';
import { ProductDto } from '../../src/resources/products/product.dto';
import { UserStatus } from '../../src/resources/users/user.entity';
import { Fixtures } from '../support/fixtures';
import { type TestUser, useTestApi } from '../support/test-api';

/** One place in the lane of searches, and one in that of lists that count or skip much. */
const settings = { DATABASE_POOL_SIZE: '3', SEARCH_CONNECTIONS: '1', SEARCH_TIMEOUT: '30000' };
const PRODUCTS = 2_400;
// Sorted by another column than the id: no place of an earlier page is known.
const DEEP = 'page=1100&size=1&sort=price';
/** Milliseconds: longer than a wait that counts as short. */
const LONG = 60;

describe('A list that waits for its turn', () => {
  const api = useTestApi({ settings });
  let admin: TestUser;
  let run: jest.SpiedFunction<Semaphore['run']>;

  beforeAll(async () => {
    admin = await api.admin();
    const own = new Fixtures(api, await api.user());
    await own.order();
    await own.reply();
    await api.app.nest
      .get(DataSource)
      .query(`INSERT INTO products (name, price) SELECT 'Cup', 1 FROM generate_series(1, ${PRODUCTS})`);
  });

  beforeEach(() => {
    run = jest.spyOn(Semaphore.prototype, 'run');
  });

  afterEach(() => run.mockRestore());

  /** Takes the only place of a lane by `holder`, has `ask` wait behind it, and makes a change meanwhile. */
  async function whileWaiting<T>(holder: string, ask: () => Promise<T>, change: () => Promise<unknown>): Promise<T> {
    const lock = await RowLock.ofTable(api.app.databaseUrl, 'replies');
    try {
      const held = api.get(holder);
      await lock.awaitedBy(1);
      const before = run.mock.calls.length;
      const answer = ask();
      await waitFor(() => run.mock.calls.length > before);
      const start = performance.now();
      await change();
      // After a short wait nobody is looked up again.
      await waitFor(() => performance.now() - start > LONG);
      await lock.release();
      await held;
      return await answer;
    } finally {
      await lock.release();
    }
  }

  const demote = ({ id }: TestUser) => api.as(admin).patch(`/users/${id}`, { roles: [Role.USER] });
  const suspend = ({ id }: TestUser) => api.as(admin).patch(`/users/${id}`, { status: UserStatus.SUSPENDED });
  const signOut = ({ refreshToken }: TestUser) => api.delete('/auth/tokens', { refresh_token: refreshToken });
  const nothing = () => Promise.resolve();
  const leave = (...askers: { leave: () => void }[]) => Promise.resolve(askers.forEach((asker) => asker.leave()));

  it('has a signal made for it only where it waits', async () => {
    const signals = jest.spyOn(UnitOfWork.prototype, 'signal', 'get');
    // Version 2 counts nothing: a count would wait for the only place behind the read beside it.
    for (const path of ['/replies', '/orders?size=5', '/replies?search=abc', '/replies?search=a']) {
      expect(await api.as(admin).get(`//api/v2${path}`)).toMatchObject({ status: 200 });
    }

    expect(run).toHaveBeenCalled();
    expect(signals).not.toHaveBeenCalled();
    signals.mockRestore();
  });

  const SEARCH = '/replies?search=abc';
  const COUNT = '/replies';

  it.each([
    ['a search of orders by a demoted administrator', SEARCH, '/orders?search=cup', demote],
    ['a short search by a demoted administrator', SEARCH, '/orders?search=c', demote],
    ['a search of users by a suspended administrator', SEARCH, '/users?search=example', suspend],
    ['a search of posts, which anyone may read, after a sign-out', SEARCH, '/posts?search=abc', signOut],
    ['a page of cursors', SEARCH, '//api/v2/orders?search=cup', demote],
    ['a list that counts', COUNT, '/orders', demote],
    ['a list with a filter after a sign-out', COUNT, '/orders?status=PENDING&fields=id', signOut],
    ['a deep page', COUNT, `/products?${DEEP}`, suspend],
    ['a deep page that is found for the first time', COUNT, '/products?page=1100&size=1', suspend],
    ['comments that a post includes', COUNT, '/posts/1?include=comments', signOut],
    ['products of a status', COUNT, '/products?status=ACTIVE', suspend],
    ['users of a status, the first page of cursors', COUNT, '//api/v2/users?status=ACTIVE&sort=name', demote],
  ])('is not answered to a caller who has lost its rights meanwhile: %s', async (_what, holder, path, lose) => {
    const caller = await api.admin();
    const ask = () => api.as(caller).get(path);

    expectError(await whileWaiting(holder, ask, () => lose(caller)), 'UNAUTHORIZED');
  });

  it.each([
    [SEARCH, '/users?search=user'],
    [COUNT, '/orders'],
    [COUNT, `/products?${DEEP}`],
    [COUNT, '/products?status=ACTIVE&sort=created_at&order=desc'],
  ])('is answered to a caller who has lost nothing: behind %s, %s', async (holder, path) => {
    const caller = await api.admin();
    const answer = await whileWaiting(holder, () => api.as(caller).get(path), nothing);

    expect(answer).toMatchObject({ status: 200, body: { data: expect.any(Array) } });
    expect(answer.body.data.length).toBeGreaterThan(0);
  });

  it.each([
    '/products?status=ACTIVE&sort=created_at&order=desc',
    '/products?status=DISCONTINUED&fields=name',
    '//api/v2/products?status=DISCONTINUED',
  ])('leaves connections to all else, however many ask for rows of a status: %s', async (path) => {
    const post = await new Fixtures(api, await api.user()).post();
    const lock = await RowLock.ofTable(api.app.databaseUrl, 'products');
    try {
      const asked = Promise.all(times(6, (index) => api.get(`${path}&size=${index + 1}`)));
      await lock.awaitedBy(1);

      expect(await api.get(`/posts/${post.id}`)).toMatchObject({ status: 200 });
      await lock.release();
      expect((await asked).map(({ status }) => status)).toEqual(times(6, () => 200));
    } finally {
      await lock.release();
    }
  });

  it('has no comment on a post that became a draft meanwhile', async () => {
    const author = await api.user();
    const own = new Fixtures(api, author);
    const post = await own.post();
    await api.as(author).post(`/posts/${post.id}/comments`, { content: 'abc' });
    const path = `/posts/${post.id}/comments?search=abc`;
    const change = async () => {
      await api.as(author).patch(`/posts/${post.id}`, { status: 'DRAFT' });
      await api.as(author).post(`/posts/${post.id}/comments`, { content: 'abc SECRET' });
    };
    const answer = await whileWaiting(SEARCH, () => api.get(path), change);

    expect(answer.status).toBe(404);
    expect(answer.text).not.toContain('SECRET');
  });

  describe('and is one that several ask for', () => {
    /** One who asks in the name of a request, and may leave. */
    function asker(ip: string) {
      const res = Object.assign(new EventEmitter(), { closed: false, writableFinished: false, statusCode: 200 });
      const work = new UnitOfWork(() => undefined, { id: 'test', ip, res });
      const read = (page = 1_100) => {
        const query: ListQuery = { page, size: 1, sort: 'price', [WORK]: work, [LARGEST]: LargestSize.of(ProductDto) };
        return paginate(api.repository(Product), query, {});
      };
      return { read, leave: () => void res.emit('close') };
    }

    it('goes on for the others when the first of them leaves', async () => {
      const [first, second, third] = times(3, () => asker('192.0.2.1'));
      const reads = await whileWaiting(
        COUNT,
        async () => {
          const all = [first, second, third].map(({ read }) => read());
          return Promise.allSettled(all);
        },
        () => leave(first),
      );

      expect(reads.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled']);
    });

    it('is not begun when all of them have left', async () => {
      const askers = times(3, () => asker('192.0.2.1'));
      const change = () => leave(...askers);
      const reads = await whileWaiting(COUNT, () => Promise.allSettled(askers.map(({ read }) => read())), change);

      expect(reads.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    });

    it('waits in nobody’s line but those of its askers', async () => {
      const order: string[] = [];
      const crowd = asker('192.0.2.1');
      const other = asker('198.51.100.1');
      const note = (name: string, read: Promise<unknown>) => read.then(() => void order.push(name));
      const ask = () =>
        Promise.all([
          ...times(5, (index) => note('crowd', crowd.read(1_110 + index))),
          note('crowd', crowd.read()),
          note('other', other.read()),
        ]);
      await whileWaiting(COUNT, ask, nothing);

      expect(order.indexOf('other')).toBeLessThan(3);
    });
  });
});
