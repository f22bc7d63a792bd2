import { countStatuses, expectError, query, RawConnection, RowLock, times, waitFor } from '../../src/platform/testing';
import { Fixtures } from '../support/fixtures';
import { type TestUser, useTestApi } from '../support/test-api';

const POOL_SIZE = 5;
const SEARCHES = 3;
/** One connection is for another network. */
const SEARCHES_OF_ONE = SEARCHES - 1;
/** Much less than the limit of a request, which would end everything anyway. */
const SOON = 8_000;
/** The statements of the job that cancels overdue orders, which may wait for the lock of its table. */
const OF_JOBS = "%status = 'PENDING' AND expires_at < now()%";

describe('A read whose client has gone', () => {
  const api = useTestApi({ settings: { DATABASE_POOL_SIZE: String(POOL_SIZE) } });
  let user: TestUser;
  let own: Fixtures;
  let lock: RowLock;

  beforeAll(async () => {
    user = await api.user();
    own = new Fixtures(api, user);
    await own.product();
    await own.order();
    await own.comment();
    await own.upload();
  });

  afterEach(() => lock.release());

  async function send(path: string): Promise<RawConnection> {
    const connection = await RawConnection.open(api.app.port);
    return connection.write(`GET /api${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${user.token}\r\n\r\n`);
  }

  it.each([
    ['a list', '/v1/products', 'products'],
    ['a list of a status', '/v1/products?status=ACTIVE&sort=price', 'products'],
    ['the first page of cursors', '/v2/products', 'products'],
    ['a list that depends on its reader', '/v1/posts', 'posts'],
    ['a list with what belongs to its items', '/v1/orders', 'orders'],
    ['a list of somebody’s own', '/v1/uploads', 'uploads'],
    ['a search', '/v1/products?search=espresso', 'products'],
    ['a search for less than an index helps with', '/v2/posts?search=e', 'posts'],
    ['one item', '/v1/products/1', 'products'],
  ])('ends in the database: %s', async (_what, path, table) => {
    lock = await RowLock.ofTable(api.app.databaseUrl, table);
    const connections = await Promise.all(times(3, () => send(path)));
    await waitFor(async () => (await lock.waiting(OF_JOBS)) > 0);
    connections.forEach((connection) => connection.reset());

    await waitFor(async () => (await lock.waiting(OF_JOBS)) === 0, SOON);
    await lock.release();
    // Whatever was ended, its place in the pool is there again.
    const after = await Promise.all(times(2 * POOL_SIZE, () => api.as(user).get('/products')));
    expect(countStatuses(after)).toEqual({ 200: 2 * POOL_SIZE });
  });

  it.each([
    ['is reset', (connection: RawConnection) => connection.reset()],
    ['ends', (connection: RawConnection) => connection.end()],
  ])('ends when a connection %s on which others were sent ahead', async (_how, leave) => {
    lock = await RowLock.ofTable(api.app.databaseUrl, 'products');
    const connection = await RawConnection.open(api.app.port);
    connection.write('GET /api/v1/products HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(50));
    await waitFor(async () => (await lock.waiting()) > 0);
    leave(connection);

    await waitFor(async () => (await lock.waiting()) === 0, SOON);
    connection.destroy();
  });

  it('never waits for a connection while it holds another: many at once are all answered', async () => {
    lock = await RowLock.of(api.app.databaseUrl, 'users', user.id);
    const admin = api.as(await api.admin());
    const paths = ['/orders', '/uploads', '/posts?size=100', '/users?search=user', '/products?status=ACTIVE&search=p'];
    const answers = await Promise.all(
      paths.flatMap((path) => [admin, api.as(user)].flatMap((client) => times(5, () => client.get(path)))),
    );

    expect(countStatuses(answers)).toEqual({ 200: answers.length });
  });

  it('goes on for the others who wait for the same', async () => {
    lock = await RowLock.ofTable(api.app.databaseUrl, 'products');
    const connections = await Promise.all(times(10, () => send('/v1/products/1')));
    await waitFor(async () => (await lock.waiting()) > 0);
    const [patient, ...others] = connections;
    others.forEach((connection) => connection.reset());
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    await lock.release();

    expect((await patient.answer()).status).toBe(200);
    patient.destroy();
  });

  it('ends when the last of those has gone who waited for it', async () => {
    lock = await RowLock.ofTable(api.app.databaseUrl, 'products');
    const connections = await Promise.all(times(4, () => send('/v1/products')));
    await waitFor(async () => (await lock.waiting()) > 0);
    connections.pop()!.reset();
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(await lock.waiting()).toBeGreaterThan(0);
    connections.forEach((connection) => connection.reset());

    await waitFor(async () => (await lock.waiting()) === 0, SOON);
  });

  it('ends while somebody else reads a whole list slowly', async () => {
    await query(
      api.app.databaseUrl,
      `INSERT INTO posts (user_id, title, content, status)
       SELECT ${user.id}, 'Long', repeat('x', 10000), 'PUBLISHED' FROM generate_series(1, 3000)`,
    );
    const slow = await RawConnection.open(api.app.port);
    slow.write('GET /api/v1/posts HTTP/1.1\r\nHost: x\r\nAccept: text/csv\r\n\r\n');
    await slow.stall();
    lock = await RowLock.ofTable(api.app.databaseUrl, 'products');
    const reader = await send('/v1/products/1');
    await waitFor(async () => (await lock.waiting(OF_JOBS)) > 0);
    reader.reset();

    await waitFor(async () => (await lock.waiting(OF_JOBS)) === 0, SOON);
    const exports = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'FETCH%'";
    expect(await query(api.app.databaseUrl, exports)).toHaveLength(1);
    slow.reset();
  });

  it('leaves no error in the log, as nothing has failed', async () => {
    lock = await RowLock.ofTable(api.app.databaseUrl, 'products');
    api.app.log.length = 0;
    const connections = await Promise.all(['/v1/products', '/v1/products?search=cup'].map(send));
    await lock.awaitedBy(2);
    connections.forEach((connection) => connection.reset());
    await waitFor(async () => (await lock.waiting()) === 0, SOON);

    expect(api.app.log.filter(({ level, msg }) => Number(level) >= 50 && msg !== 'request')).toEqual([]);
  });
});

describe('A write whose client has gone', () => {
  const api = useTestApi();

  it('ends in the database with nothing written, and can be repeated', async () => {
    const user = await api.user();
    const post = await new Fixtures(api, user).post();
    const lock = await RowLock.of(api.app.databaseUrl, 'posts', post.id);
    const body = JSON.stringify({ content: 'A comment.' });
    const connection = await RawConnection.open(api.app.port);
    connection.write(
      `POST /api/v1/posts/${post.id}/comments HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${user.token}\r\n` +
        `Idempotency-Key: once\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await lock.awaitedBy(1);
    connection.reset();
    await waitFor(async () => (await lock.waiting()) === 0, SOON);
    await lock.release();

    const path = `/posts/${post.id}/comments`;
    expect((await api.get(path)).body.data).toEqual([]);
    const again = await api.as(user).post(path, { content: 'A comment.' }, { 'Idempotency-Key': 'once' });
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([201, null]);
    expect((await api.get(path)).body.data).toHaveLength(1);
  });
});

describe('Searches', () => {
  const api = useTestApi({
    settings: { DATABASE_POOL_SIZE: String(POOL_SIZE), SEARCH_CONNECTIONS: String(SEARCHES), SEARCH_TIMEOUT: '4000' },
  });
  let user: TestUser;
  let lock: RowLock;

  beforeAll(async () => {
    user = await api.user();
    await new Fixtures(api, user).product({ name: 'Espresso cup' });
  });

  beforeEach(async () => {
    lock = await RowLock.ofTable(api.app.databaseUrl, 'products');
  });

  afterEach(() => lock.release());

  it('leave connections to everybody else, however many there are', async () => {
    const searches = [
      ...times(20, () => api.get('/products?search=espresso')),
      ...times(20, () => api.get('/products?search=e')),
    ];
    await lock.awaitedBy(SEARCHES_OF_ONE);
    const others = await Promise.all(times(20, () => api.as(user).get('/users/profile')));
    expect(countStatuses(others)).toEqual({ 200: 20 });
    expect(await lock.waiting()).toBe(SEARCHES_OF_ONE);
    await lock.release();

    expect(countStatuses(await Promise.all(searches))).toEqual({ 200: 40 });
  });

  it('for one or two characters don’t keep waiting those that an index helps', async () => {
    const short = times(5, () => api.get('/products?search=e'));
    await lock.awaitedBy(1);
    const long = times(5, () => api.get('/products?search=espresso'));
    await lock.awaitedBy(SEARCHES_OF_ONE);
    await lock.release();

    expect(countStatuses(await Promise.all([...short, ...long]))).toEqual({ 200: 10 });
  });

  it('are 503 after a time of their own, and end in the database', async () => {
    const start = performance.now();
    const answer = await api.get('/products?search=espresso');

    expectError(answer, 'SERVICE_UNAVAILABLE');
    expect(answer.body.error.message).toBe('The search took too long; search for more characters');
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(performance.now() - start).toBeLessThan(15_000);
    await lock.awaitedBy(0);
  });

  it('are 503 at once when too many wait already', async () => {
    const statuses: number[] = [];
    const searches = times(130, async () => {
      const answer = await api.get('/products?search=espresso');
      if (answer.status === 503) expectError(answer, 'SERVICE_UNAVAILABLE');
      statuses.push(answer.status);
    });
    await waitFor(() => statuses.length === 28);
    await lock.release();

    await Promise.all(searches);
    expect(statuses.sort()).toEqual([...times(102, () => 200), ...times(28, () => 503)]);
  });

  it('leave the queue when their clients go', async () => {
    const open = async () => {
      const connection = await RawConnection.open(api.app.port);
      return connection.write('GET /api/v1/products?search=espresso HTTP/1.1\r\nHost: x\r\n\r\n');
    };
    const connections = await Promise.all(times(60, open));
    await lock.awaitedBy(SEARCHES_OF_ONE);
    connections.forEach((connection) => connection.reset());
    await waitFor(async () => (await lock.waiting()) === 0, SOON);
    await lock.release();

    const start = performance.now();
    expect((await api.get('/products?search=espresso')).status).toBe(200);
    expect(performance.now() - start).toBeLessThan(5_000);
  });
});
