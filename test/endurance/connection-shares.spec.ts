import { Controller, Get, Logger, Module, Post, Query } from '@nestjs/common';
import { InjectDataSource, InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { DataSource, type EntityManager, Repository, type SelectQueryBuilder } from 'typeorm';
import { AnswersPage, type Page, paginate, Role, Roles, TakesNoKey } from '../../src/platform';
import { type Answer, countStatuses, expectError, RowLock, times, waitFor } from '../../src/platform/testing';
import { ListProductsQuery, ProductDto, toProductDto } from '../../src/resources/products/product.dto';
import { Product } from '../../src/resources/products/product.entity';
import { type TestUser, useTestApi } from '../support/test-api';

const POOL_SIZE = 10;
/** What one caller holds of them at most. */
const SHARE = 6;
/** What all callers of one network hold of them at most. One is left to reads. */
const OF_NETWORK = 8;
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

/** Its reads are followed, so that the lines of its log say to which request they belong. */
@Controller('logged')
class LoggedController {
  private readonly logger = new Logger(LoggedController.name);

  constructor(@InjectRepository(Product) private readonly products: Repository<Product>) {}

  @Get()
  @Roles(Role.USER)
  @AnswersPage(ProductDto)
  async list(@Query() query: ListProductsQuery): Promise<Page<object>> {
    this.logger.debug('A list');
    // TypeORM reads a list with a condition of its own.
    const where = (rows: SelectQueryBuilder<Product>) => void rows.andWhere('resource.price > 0');
    return (await paginate(this.products, query, { where })).map(toProductDto);
  }
}

@Module({ imports: [TypeOrmModule.forFeature([Product])], controllers: [LoggedController] })
class LoggedModule {}

describe('A handler whose transactions wait for each other', () => {
  // A caller has one place of so few connections.
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
  const settings = { DATABASE_POOL_SIZE: String(POOL_SIZE), REQUEST_TIMEOUT: String(LIMIT) };
  const api = useTestApi({ imports: [LoggedModule], settings });
  const item = { quantity: 1 };

  async function product(): Promise<number> {
    const { body } = await api.as(await api.admin()).post('/products', { name: 'Cup', price: 1, stock: 1_000 });
    return body.data.id as number;
  }

  /** Expects that requests which need the locked row are held, and that others are answered. */
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

  it('changes of its own row keep no list of it waiting, even of a controller whose reads are followed', async () => {
    const user = await api.user();
    const lock = await lockOf(user);
    const changes = times(20, (index) => api.as(user).patch(`/users/${user.id}`, { name: `Ada ${index}` }));
    await waitFor(async () => (await lock.waiting()) >= SHARE);
    const { status } = await api.as(user).get('/logged');
    const held = await lock.waiting();
    await lock.release();

    expect([status, held, countStatuses(await Promise.all(changes))]).toEqual([200, SHARE, { 200: 20 }]);
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
  const settings = { DATABASE_POOL_SIZE: String(POOL_SIZE), REQUEST_TIMEOUT: String(LIMIT), TRUST_PROXY: '1' };
  const api = useTestApi({ settings });

  const from = (network: number, user: TestUser) => api.as(user).with({ 'X-Forwarded-For': `10.0.${network}.1` });
  const post = { title: 'One', content: 'One' };

  it('leave connections to others, and to the look at who asks', async () => {
    const users = await Promise.all(times(3, () => api.user()));
    const other = await api.user();
    const locks = await Promise.all(users.map(({ id }) => RowLock.of(api.app.databaseUrl, 'users', id)));
    const changes: Promise<Answer>[] = [];
    for (const [network, user] of users.entries()) {
      changes.push(...times(20, () => from(network, user).patch(`/users/${user.id}`, { name: 'Slow' })));
      await waitFor(async () => (await locks[0].waiting()) === SHARE + network);
    }
    expect(await from(3, other).post('/posts', post)).toMatchObject({ status: 201 });
    expect(await from(3, other).get('/users/profile')).toMatchObject({ status: 200 });
    await Promise.all(locks.map((lock) => lock.release()));

    await Promise.all(changes);
  });

  it('leave a connection to other networks, however many accounts one network has', async () => {
    const [first, ...users] = await Promise.all(times(2 * POOL_SIZE, () => api.user()));
    const [other, third] = [await api.user(), await api.user()];
    const { body } = await api.as(await api.admin()).post('/products', { name: 'Cup', price: 1, stock: 1_000 });
    const order = { items: [{ product_id: body.data.id as number, quantity: 1 }] };
    const lock = await RowLock.of(api.app.databaseUrl, 'products', body.data.id as number);
    const orders = [...times(POOL_SIZE, () => from(1, first).post('/orders', order))];
    await waitFor(async () => (await lock.waiting()) === SHARE);
    orders.push(...users.map((user) => from(1, user).post('/orders', order)));
    await waitFor(async () => (await lock.waiting()) === OF_NETWORK);

    const { username, password } = other;
    expect(await from(2, other).post('/posts', post)).toMatchObject({ status: 201 });
    expect(await from(3, third).post('/posts', post, { 'Idempotency-Key': 'a' })).toMatchObject({ status: 201 });
    expect(await from(2, other).post('/auth/tokens', { username, password })).toMatchObject({ status: 201 });
    expect(await lock.waiting()).toBe(OF_NETWORK);
    await lock.release();
    expect(countStatuses(await Promise.all(orders))).toEqual({ 201: orders.length });
  });

  it('leave a connection to other networks, when they wait for lists too', async () => {
    const users = await Promise.all(times(POOL_SIZE, () => api.user()));
    const other = await api.user();
    const { body } = await api.as(await api.admin()).post('/products', { name: 'Cup', price: 1, stock: 1_000 });
    const order = { items: [{ product_id: body.data.id as number, quantity: 1 }] };
    const lock = await RowLock.of(api.app.databaseUrl, 'products', body.data.id as number);
    const listLock = await RowLock.ofTable(api.app.databaseUrl, 'replies');
    const held = users.map((user, index) => from(1, user).get(`/replies?size=${index + 1}`));
    held.push(...users.map((user) => from(1, user).post('/orders', order)));
    await lock.awaitedBy(POOL_SIZE - 1);

    expect(await from(2, other).get('/users/profile')).toMatchObject({ status: 200 });
    expect(await from(2, other).post('/posts', post)).toMatchObject({ status: 201 });
    expect(await lock.waiting()).toBe(POOL_SIZE - 1);
    await Promise.all([lock.release(), listLock.release()]);
    expect(countStatuses(await Promise.all(held))).toEqual({ 200: POOL_SIZE, 201: POOL_SIZE });
  });

  it('leave connections to another user of their network', async () => {
    const [stuck, neighbour] = [await api.user(), await api.user()];
    const lock = await RowLock.of(api.app.databaseUrl, 'users', stuck.id);
    const changes = times(20, () => from(1, stuck).patch(`/users/${stuck.id}`, { name: 'Slow' }));
    await waitFor(async () => (await lock.waiting()) === SHARE);

    expect(await from(1, neighbour).post('/posts', post)).toMatchObject({ status: 201 });
    await lock.release();
    expect(countStatuses(await Promise.all(changes))).toEqual({ 200: 20 });
  });
});
