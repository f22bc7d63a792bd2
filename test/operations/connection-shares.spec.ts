import { Controller, Module, Post } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, type EntityManager } from 'typeorm';
import { Role, Roles, TakesNoKey } from '../../src/platform';
import { type Answer, countStatuses, expectError, RowLock, times, waitFor } from '../../src/platform/testing';
import { type TestUser, useTestApi } from '../support/test-api';

const POOL_SIZE = 10;
/** What one caller holds of them at most. */
const SHARE = 6;
const LIMIT = 20_000;

@Controller('pairs')
class PairsController {
  constructor(@InjectDataSource() private readonly database: DataSource) {}

  /** Two transactions side by side, of which the first to begin waits for the other. */
  @Post()
  @TakesNoKey('a test')
  @Roles(Role.USER)
  async pair(): Promise<void> {
    let tell: () => void;
    const told = new Promise<void>((resolve) => (tell = resolve));
    const run = (work: (manager: EntityManager) => Promise<unknown>) =>
      this.database.transaction(async (manager) => {
        await manager.query('SELECT 1');
        await work(manager);
      });
    await Promise.all([run(() => told), run(() => Promise.resolve(tell()))]);
  }
}

@Module({ controllers: [PairsController] })
class PairsModule {}

describe('A handler whose transactions wait for each other', () => {
  // Of so few a caller has one place.
  const settings = { DATABASE_POOL_SIZE: '3', REQUEST_TIMEOUT: '5000', API_DOCS: 'false' };
  const api = useTestApi({ imports: [PairsModule], settings });

  it('gets a connection for each of them in its one place', async () => {
    const user = await api.user();
    for (let round = 0; round < 5; round++) {
      expect(await api.as(user).post('/pairs')).toMatchObject({ status: 201 });
    }
  });
});

describe('One caller whose requests wait for a lock', () => {
  const api = useTestApi({ settings: { DATABASE_POOL_SIZE: String(POOL_SIZE), REQUEST_TIMEOUT: String(LIMIT) } });
  const item = { quantity: 1 };

  async function product(): Promise<number> {
    const { body } = await api.as(await api.admin()).post('/products', { name: 'Cup', price: 1, stock: 1_000 });
    return body.data.id as number;
  }

  /** Of these requests, which are under way, the lock's own are held, and others' are answered. */
  async function expectOthersAreAnswered(lock: RowLock, waiting: Promise<Answer>[]): Promise<Record<number, number>> {
    try {
      await waitFor(async () => (await lock.waiting()) >= SHARE);
      const other = await api.user();
      const cup = await product();
      const post = await api.as(other).post('/posts', { title: 'One', content: 'One' });
      const order = await api.as(other).post('/orders', { items: [{ product_id: cup, ...item }] });
      const keyed = await api.as(other).post('/posts', { title: 'Two', content: 'Two' }, { 'Idempotency-Key': 'two' });
      const changed = await api.as(other).patch(`/users/${other.id}`, { name: 'Other' });
      const refreshed = await api.put('/auth/tokens', { refresh_token: other.refreshToken });
      expect([post, order, keyed, changed, refreshed].map(({ status }) => status)).toEqual([201, 201, 201, 200, 200]);
      expect(await lock.waiting()).toBe(SHARE);
    } finally {
      await lock.release();
    }
    return countStatuses(await Promise.all(waiting));
  }

  const lockOf = ({ id }: TestUser) => RowLock.of(api.app.databaseUrl, 'users', id);

  it.each([
    ['of one user, which wait for each other', () => ({})],
    ['of one user with a key each', (index: number) => ({ 'Idempotency-Key': `order ${index}` })],
  ])('fifty orders %s, take no connection from others', async (_name, headers) => {
    const [user, product_id] = [await api.user(), await product()];
    const lock = await RowLock.of(api.app.databaseUrl, 'products', product_id);
    const orders = times(50, (index) =>
      api.as(user).post('/orders', { items: [{ product_id, ...item }] }, headers(index)),
    );

    expect(await expectOthersAreAnswered(lock, orders)).toEqual({ 201: 50 });
  });

  it('changes of its own row take no connection from others, and all are made', async () => {
    const user = await api.user();
    const lock = await lockOf(user);
    const changes = times(200, (index) => api.as(user).patch(`/users/${user.id}`, { name: `Ada ${index}` }));

    expect(await expectOthersAreAnswered(lock, changes)).toEqual({ 200: 200 });
  });
});

describe('Callers whose requests wait for a lock', () => {
  const api = useTestApi({ settings: { DATABASE_POOL_SIZE: String(POOL_SIZE), REQUEST_TIMEOUT: '5000' } });

  it('are answered in time, and what waits with them for a connection begins nothing', async () => {
    const user = await api.user();
    const lock = await RowLock.of(api.app.databaseUrl, 'users', user.id);
    const answers = await Promise.all(times(40, () => api.as(user).patch(`/users/${user.id}`, { name: 'Late' })));
    answers.forEach((answer) => expectError(answer, 'SERVICE_UNAVAILABLE'));
    await waitFor(async () => (await lock.waiting()) === 0);
    await lock.release();

    // A place that was lost would be missed.
    const relock = await RowLock.of(api.app.databaseUrl, 'users', user.id);
    const again = times(10, () => api.as(user).patch(`/users/${user.id}`, { name: 'Ada' }));
    await waitFor(async () => (await relock.waiting()) === SHARE);
    await relock.release();
    expect(countStatuses(await Promise.all(again))).toEqual({ 200: 10 });
    expect((await api.as(user).get('/users/profile')).headers.get('etag')).toBe('"2"');
  });
});

describe('Several callers whose requests wait for a lock', () => {
  const api = useTestApi({ settings: { DATABASE_POOL_SIZE: String(POOL_SIZE), REQUEST_TIMEOUT: String(LIMIT) } });

  it('leave connections to others, and to the look at who asks', async () => {
    const users = await Promise.all(times(3, () => api.user()));
    const other = await api.user();
    const locks = await Promise.all(users.map(({ id }) => RowLock.of(api.app.databaseUrl, 'users', id)));
    const changes = users.flatMap((user) => times(20, () => api.as(user).patch(`/users/${user.id}`, { name: 'Slow' })));
    await waitFor(async () => (await locks[0].waiting()) === 8);
    expect(await api.as(other).post('/posts', { title: 'One', content: 'One' })).toMatchObject({ status: 201 });
    expect(await api.as(other).get('/users/profile')).toMatchObject({ status: 200 });
    await Promise.all(locks.map((lock) => lock.release()));

    await Promise.all(changes);
  });
});
