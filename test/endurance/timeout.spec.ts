import { setTimeout as sleep } from 'node:timers/promises';
import { Controller, Get, Module, Post } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, type EntityManager } from 'typeorm';
import { Public } from '../../src/platform';
import {
  type Answer,
  cloneTemplate,
  countStatuses,
  expectError,
  query,
  RawConnection,
  RowLock,
  times,
  waitFor,
} from '../../src/platform/testing';
import { Fixtures } from '../support/fixtures';
import { TcpProxy } from '../support/tcp-proxy';
import { TestApi, type TestUser, useTestApi } from '../support/test-api';
import { startApp } from '../support/test-app';

/** Milliseconds in which even a busy machine takes fifty requests to the database. */
const LIMIT = 2_000;
/** Later than the limit, and in the second in which the service still waits for the outcome of a COMMIT. */
const LATE = LIMIT + 400;
const POOL_SIZE = 4;
/** The connections for writes: one is left to the check of the caller. */
const PLACES = POOL_SIZE - 1;
/** One network would get its share of them alone. */
const from = (index: number) => ({ 'X-Forwarded-For': `192.0.${index % PLACES}.1` });

/** What the handlers below wait for outside the database, in the middle of a transaction. */
const gate = { open: () => {}, closed: Promise.resolve() };
/** How each of their calls has ended, an error's message or `done`. */
const outcomes: string[] = [];

/** Writes, waits for something, and writes again: nothing of it may remain. */
@Controller('notes')
class NotesController {
  constructor(@InjectDataSource() private readonly database: DataSource) {}

  /** Waits for a row that somebody else has locked. */
  @Post('locked')
  @Public()
  locked(): Promise<void> {
    return this.write((manager) => manager.query('SELECT 1 FROM users FOR UPDATE'));
  }

  /** Waits for something that the database knows nothing of. */
  @Post('gated')
  @Public()
  gated(): Promise<void> {
    return this.write(() => gate.closed);
  }

  /** Only reads, for which there is no more than the database's own limit. */
  @Get('locked')
  @Public()
  read(): Promise<unknown> {
    return this.database.query('SELECT 1 FROM users FOR SHARE');
  }

  private async write(wait: (manager: EntityManager) => Promise<unknown>): Promise<void> {
    try {
      await this.database.transaction(async (manager) => {
        // Without the database's own help.
        await manager.query('SET LOCAL statement_timeout = 0');
        await manager.query("INSERT INTO notes VALUES ('before')");
        await wait(manager);
        await manager.query("INSERT INTO notes VALUES ('after')");
      });
      await this.database.query("INSERT INTO notes VALUES ('later')");
      outcomes.push('done');
    } catch (error) {
      outcomes.push((error as Error).message);
      throw error;
    }
  }
}

@Module({ controllers: [NotesController] })
class NotesModule {}

describe('A request that takes too long', () => {
  const api = useTestApi({
    settings: { REQUEST_TIMEOUT: String(LIMIT), DATABASE_POOL_SIZE: String(POOL_SIZE), TRUST_PROXY: '1' },
    imports: [NotesModule],
  });
  let user: TestUser;
  let lock: RowLock;

  const sql = (text: string) => query(api.app.databaseUrl, text);

  beforeAll(async () => {
    user = await api.user();
    await sql('CREATE TABLE notes (text text)');
  });

  beforeEach(async () => {
    outcomes.length = 0;
    lock = await RowLock.of(api.app.databaseUrl, 'users', user.id);
  });

  afterEach(() => lock.release());

  /** All handlers have ended, with nothing written. */
  async function expectNothingOf(count: number): Promise<void> {
    await waitFor(() => outcomes.length === count);
    expect(outcomes).not.toContain('done');
    expect(await sql('SELECT * FROM notes')).toEqual([]);
  }

  it('is answered 503 at the limit, and the database works on it no longer', async () => {
    const start = performance.now();
    const answer = await api.post('/notes/locked');
    const took = performance.now() - start;

    expectError(answer, 'SERVICE_UNAVAILABLE');
    expect(answer.body.error.message).toBe('The request took too long');
    expect(took).toBeGreaterThanOrEqual(LIMIT - 5);
    expect(took).toBeLessThan(5 * LIMIT);
    await lock.awaitedBy(0);
    await lock.release();
    await expectNothingOf(1);
  });

  it('is answered 503 at the limit when it only reads, and its statement ends as well', async () => {
    const start = performance.now();
    const answer = api.get('/notes/locked');
    await lock.awaitedBy(1);

    expectError(await answer, 'SERVICE_UNAVAILABLE');
    expect(performance.now() - start).toBeLessThan(5 * LIMIT);
    await lock.awaitedBy(0);
  });

  it('writes nothing when what it waits for comes at the moment of its end', async () => {
    expect((await api.post('/notes/locked')).status).toBe(503);
    await lock.release();

    await expectNothingOf(1);
  });

  it('writes nothing later, when its handler goes on in the middle of a transaction', async () => {
    gate.closed = new Promise((resolve) => (gate.open = resolve));

    expect((await api.post('/notes/gated')).status).toBe(503);
    gate.open();

    await expectNothingOf(1);
  });

  it('takes no longer for a client that has gone away', async () => {
    const connection = await RawConnection.open(api.app.port);
    connection.write('POST /api/v1/notes/locked HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n');
    await lock.awaitedBy(1);
    connection.destroy();

    await lock.awaitedBy(0);
    await expectNothingOf(1);
  });

  it('ends no connection that it has given back, though its client has never read the answer', async () => {
    const { body: product } = await api.as(await api.admin()).post('/products', { name: 'Cup', price: 1 });
    const { id } = product.data as { id: number };
    const productLock = await RowLock.of(api.app.databaseUrl, 'products', id);
    const admin = await api.admin();
    const connection = await RawConnection.open(api.app.port);
    const head = `PATCH /api/v1/products/${id} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`;
    connection.write(`${head}Authorization: Bearer ${admin.token}\r\nContent-Length: 11\r\n\r\n{"stock":7}`);
    await productLock.awaitedBy(1);
    connection.destroy();
    await waitFor(() => api.app.log.some(({ aborted }) => aborted === true));
    await productLock.release();
    await waitFor(async () => (await sql('SELECT stock FROM products'))[0].stock === 7);
    const before = await backends();

    await sleep(LIMIT);

    expect(await backends()).toEqual(before);
  });

  it('leaves other requests alone', async () => {
    const slow = times(PLACES, (index) => api.post('/notes/locked', undefined, from(index)));
    await lock.awaitedBy(PLACES);

    const others = await Promise.all(times(5, () => api.as(user).get('/users/profile')));

    expect(countStatuses(others)).toEqual({ 200: 5 });
    expect(countStatuses(await Promise.all(slow))).toEqual({ 503: PLACES });
  });

  it('is answered in time while it waits for a connection of its own, and fifty of them leave the pool whole', async () => {
    const slow = times(50, (index) => api.post('/notes/locked', undefined, from(index)));
    await lock.awaitedBy(PLACES);

    expect(countStatuses(await Promise.all(slow))).toEqual({ 503: 50 });

    await expectNothingOf(50);
    // As many at once as there are places: a place that was lost would be missed.
    gate.closed = new Promise((resolve) => (gate.open = resolve));
    const all = times(PLACES, (index) => api.post('/notes/gated', undefined, from(index)));
    await waitFor(async () => (await openTransactions()) === PLACES);
    gate.open();
    expect(countStatuses(await Promise.all(all))).toEqual({ 201: PLACES });
    const profiles = await Promise.all(times(20, () => api.as(user).get('/users/profile')));
    expect(countStatuses(profiles)).toEqual({ 200: 20 });
  });

  /** The service's connections, by the ids of their processes. */
  async function backends(): Promise<unknown[]> {
    const rows = await sql(
      `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'resource-api' ORDER BY pid`,
    );
    return rows.map(({ pid }) => pid);
  }

  async function openTransactions(): Promise<number> {
    const [{ count }] = await sql(
      `SELECT count(*)::int FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'resource-api' AND state = 'idle in transaction'`,
    );
    return count as number;
  }
});

describe('A request whose time is up while the database commits', () => {
  const api = new TestApi();
  const proxy = new TcpProxy();
  const key = { 'Idempotency-Key': 'of an order' };
  let database: Awaited<ReturnType<typeof cloneTemplate>>;
  let user: TestUser;
  let items: object[];

  beforeAll(async () => {
    database = await cloneTemplate();
    api.app = await startApp({
      databaseUrl: await proxy.start(database.url),
      settings: { REQUEST_TIMEOUT: String(LIMIT) },
    });
    user = await api.user();
    items = [{ product_id: (await new Fixtures(api, user).product({ stock: 100 })).id, quantity: 1 }];
  });

  afterAll(async () => {
    await api.app?.stop();
    proxy.stop();
    await database?.drop();
  });

  const order = (headers = {}) => api.as(user).post('/orders', { items }, headers);
  const post = () => api.as(user).post('/posts', { title: 'A post', content: 'of a test' });
  const countOf = async (table: string) => (await query(database.url, `SELECT count(*)::int FROM ${table}`))[0].count;

  /** What it is answered when the database's answer to a statement comes so late, in milliseconds from its beginning. */
  async function heldBack(text: string, late: number, send: () => Promise<Answer>): Promise<Answer> {
    proxy.holdAnswersTo(text);
    const start = performance.now();
    const answer = send();
    try {
      await waitFor(() => proxy.waiting === 1);
      await Promise.race([answer, sleep(start + late - performance.now(), undefined, { ref: false })]);
    } finally {
      proxy.passAnswers();
    }
    return answer;
  }

  it.each([
    ['a COMMIT', 'COMMIT', 'orders', () => order()],
    ['the COMMIT of a key', 'COMMIT', 'orders', () => order({ 'Idempotency-Key': 'of another order' })],
    ['a statement that is a transaction of its own', 'INSERT INTO "posts"', 'posts', () => post()],
  ])('is answered what came of it: of %s', async (_name, text, table, send) => {
    const before = await countOf(table);

    expect(await heldBack(text, LATE, send)).toMatchObject({ status: 201 });

    expect(await countOf(table)).toBe(before + 1);
  });

  it('is answered 503 a little later when the database does not say, and its key tells what came of it', async () => {
    const before = await countOf('orders');
    const start = performance.now();

    expectError(await heldBack('COMMIT', 60 * LIMIT, () => order(key)), 'SERVICE_UNAVAILABLE');

    expect(performance.now() - start).toBeLessThan(5 * LIMIT);
    expect(await order(key)).toMatchObject({ status: 201 });
    expect(await countOf('orders')).toBe(before + 1);
  });

  it('is answered 503 when it has not begun to commit, and nothing of it is there', async () => {
    const before = await countOf('orders');

    expectError(await heldBack('INSERT INTO "orders"', LATE, () => order()), 'SERVICE_UNAVAILABLE');

    expect(await countOf('orders')).toBe(before);
  });
});
