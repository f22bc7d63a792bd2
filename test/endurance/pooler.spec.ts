import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import { Product } from '../../src/resources/products/product.entity';
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
import { hasPgBouncer, PgBouncer } from '../support/pg-bouncer';
import { TestApi } from '../support/test-api';
import { startApp } from '../support/test-app';
import { TusUser } from '../support/tus';
import { countLocks, isLocked } from '../support/upload-lock';

/** Sessions of PostgreSQL, of which the service has many more connections to the pooler. */
const SESSIONS = 3;
const LIMIT = 4_000;
const LENGTH = 10;
const SLEEPING = `SELECT count(*)::int FROM pg_stat_activity
  WHERE datname = current_database() AND query LIKE '%pg_sleep(20)%' AND state = 'active' AND pid <> pg_backend_pid()`;

const suite = hasPgBouncer() ? describe : describe.skip;

suite('A pooler in transaction mode', () => {
  const api = new TestApi();
  let pooler: PgBouncer;
  let directUrl: string;
  let drop: () => Promise<void>;
  const database = () => api.app.nest.get(DataSource);
  const settings = () => ({ DATABASE_POOLER: 'transaction', REQUEST_TIMEOUT: String(LIMIT), MIN_FREE_DISK: '0' });
  const start = (own: Record<string, string> = {}) =>
    startApp({ databaseUrl: pooler.urlOf(directUrl), settings: { ...settings(), ...own } });

  beforeAll(async () => {
    ({ url: directUrl, drop } = await cloneTemplate());
    pooler = await PgBouncer.start(directUrl, { sessions: SESSIONS });
    api.app = await start();
  });

  afterAll(async () => {
    await api.app?.stop();
    await pooler?.stop();
    await drop();
  });

  const sleeping = async () => (await query(directUrl, SLEEPING))[0].count as number;

  it('is refused at the start where no setting names it', async () => {
    await expect(start({ DATABASE_POOLER: 'none' })).rejects.toThrow('set DATABASE_POOLER to transaction');
  });

  it('serves many requests of every kind by a few sessions', async () => {
    const [user, admin] = [await api.user(), await api.admin()];
    const { id } = await new Fixtures(api, user).product({ stock: 1_000 });
    const order = { items: [{ product_id: id, quantity: 1 }] };
    const kinds: (() => Promise<Answer>)[] = [
      () => api.get(`/products/${id}`),
      () => api.get('/products?search=product'),
      () => api.as(user).get('/users/profile'),
      () => api.as(user).post('/orders', order, { 'Idempotency-Key': randomUUID() }),
      () => api.as(admin).get('/users?sort=username&status=ACTIVE'),
      () => api.as(user).patch(`/users/${user.id}`, { name: randomUUID() }),
    ];

    for (let round = 0; round < 5; round++) {
      const answers = await Promise.all(times(60, (index) => kinds[index % kinds.length]()));
      const exported = api.as(user).get('/products', { Accept: 'application/x-ndjson' });
      answers.push(await exported);
      expect(countStatuses(answers)).toEqual({ 200: 51, 201: 10 });
    }
    expect((await api.repository(Product).findOneByOrFail({ id })).stock).toBe(1_000 - 50);
  });

  it('has an effect once for a key that is sent many times at once', async () => {
    const user = await api.user();
    const key = randomUUID();
    const body = { title: 'Sent once', content: key };
    const send = () => api.as(user).post('/posts', body, { 'Idempotency-Key': key });

    const answers = await Promise.all(times(20, send));
    const { 201: created = 0, 409: inProgress = 0 } = countStatuses(answers);
    expect([created + inProgress, created > 0]).toEqual([20, true]);
    expect(await query(directUrl, 'SELECT 1 FROM posts WHERE content = $1', [key])).toHaveLength(1);
  });

  it('ends a statement outside and inside of a transaction after the time limit, and no other session has the limit', async () => {
    const slow = 'SELECT pg_sleep($1)';
    const alone = database().query(slow, [20]);
    const inside = database().transaction((manager) => manager.query(slow, [20]));

    await expect(alone).rejects.toThrow('statement timeout');
    await expect(inside).rejects.toThrow('statement timeout');
    const shown = await query(pooler.urlOf(directUrl), 'SHOW statement_timeout');
    expect(shown).toEqual([{ statement_timeout: '0' }]);
  });

  it('returns the rows, the count and the error of a statement that brings its limit along', async () => {
    const runner = database().createQueryRunner();
    try {
      const read = await runner.query('SELECT $1::int AS one UNION ALL SELECT 2 ORDER BY one', [1], true);
      expect([read.records, read.affected]).toEqual([[{ one: 1 }, { one: 2 }], 2]);
      const text = 'UPDATE products SET stock = stock WHERE id = $1';
      expect((await runner.query(text, [-1], true)).affected).toBe(0);
      await expect(runner.query('SELECT 1 / $1::int', [0])).rejects.toThrow('division by zero');
      await expect(runner.query('SELECT FROM nothing WHERE 1 = $1', [0])).rejects.toThrow('does not exist');
      expect(await runner.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    } finally {
      await runner.release();
    }
  });

  it.each([
    ['SET statement_timeout = 5', 'SET LOCAL'],
    ['/* mine /* own */ */ SET statement_timeout = 5', 'SET LOCAL'],
    ['SELECT 1; -- and\n SET statement_timeout = 5', 'SET LOCAL'],
    ['SELECT pg_advisory_lock(1)', 'pg_advisory_xact_lock'],
    ['LISTEN news', 'connection of your own'],
    ['PREPARE mine AS SELECT 1', 'with its values'],
  ])('refuses %s, and says what works', async (text, instead) => {
    await expect(database().query(text)).rejects.toThrow(instead);
  });

  describe('and uploads', () => {
    let own: TusUser;

    beforeEach(async () => {
      own = await TusUser.of(api);
    });

    it('go on after the lease of a killed process has expired', async () => {
      const path = await own.begin(LENGTH);
      const key = path.split('/').at(-1);
      const lease = (left: string) =>
        query(
          directUrl,
          `INSERT INTO upload_leases (key, holder, expires_at) VALUES ($1, gen_random_uuid(), now() + $2::interval)
           ON CONFLICT (key) DO UPDATE SET expires_at = excluded.expires_at`,
          [key, left],
        );
      await lease('1 minute');
      expectError(await own.append(path, 0, Buffer.from('0123456789')), 'LOCKED');
      await lease('-1 second');
      expect((await own.append(path, 0, Buffer.from('0123456789'))).status).toBe(204);
    });

    it('stop when their lease was lost, and what came counts', async () => {
      const path = await own.begin(LENGTH);
      const connection = await own.open(path, LENGTH);
      // Slowly, so that the request lasts until the lease is renewed.
      const sending = setInterval(() => connection.write('a'), 1_500);
      try {
        await waitFor(() => isLocked(api, path));
        await query(directUrl, 'DELETE FROM upload_leases');
        const answer = await connection.answer(15_000);
        const offset = await own.offsetOf(path);
        expect([answer.status, offset > 0, offset < LENGTH]).toEqual([204, true, true]);
      } finally {
        clearInterval(sending);
        connection.destroy();
      }
    });

    // The last ones: tokens are checked by the strategy of the application that started last.
    it('have one writer across instances, whose lock ends with its request', async () => {
      const second = await start();
      try {
        const path = await own.begin(LENGTH);
        const connection = await own.open(path, LENGTH);
        connection.write('abc');
        await waitFor(() => isLocked(api, path));
        const there = new TusUser({ app: second, as: () => own.client } as never, own.user);
        const refused = (await there.open(path, LENGTH)).write('0123456789');
        expectError(await refused.answer(), 'LOCKED');
        connection.write('defghij');
        expect((await connection.answer()).status).toBe(204);
        await waitFor(async () => (await countLocks(api)) === 0);
        for (const one of [connection, refused]) one.destroy();
      } finally {
        await second.stop();
      }
    });
  });

  it('ends the statement of a request whose client has gone, and leaves the statements of others alone', async () => {
    const patient = await startApp({
      databaseUrl: pooler.urlOf(directUrl),
      settings: { ...settings(), REQUEST_TIMEOUT: '30000' },
    });
    const other = query(pooler.urlOf(directUrl), 'SELECT pg_sleep(20)').catch(() => 'ended');
    const user = await api.user();
    const lock = await RowLock.of(directUrl, 'users', user.id);
    try {
      await waitFor(async () => (await sleeping()) === 1);
      const body = JSON.stringify({ name: 'Nobody waits' });
      const connection = await RawConnection.open(patient.port);
      connection.write(
        `PATCH /api/v1/users/${user.id} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${user.token}\r\n` +
          `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
      await lock.awaitedBy(1);
      connection.destroy();
      await lock.awaitedBy(0);
      expect(await sleeping()).toBe(1);
    } finally {
      await lock.release();
      await query(
        directUrl,
        "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(20)%' AND pid <> pg_backend_pid()",
      );
      expect(await other).toBe('ended');
      await patient.stop();
    }
  });
});
