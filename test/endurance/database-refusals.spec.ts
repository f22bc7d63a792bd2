import { randomUUID } from 'node:crypto';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { DataSource } from 'typeorm';
import { inBackground } from '../../src/platform';
import { toApiError } from '../../src/platform/errors/to-api-error';
import { type Answer, createDatabase, dropDatabase, expectError, query, waitFor } from '../../src/platform/testing';
import { CancellablePool } from '../../src/platform/transactions/cancellable-pool';
import { impersonators } from '../support/postgres-impersonator';
import { TestApi, type TestUser } from '../support/test-api';
import { TcpProxy } from '../support/tcp-proxy';
import { startApp } from '../support/test-app';

const SECRET = 'secret-of-the-database';
/** Milliseconds that a statement of a job may take. */
const LIMIT = 1_000;

describe('A database that gives no connection', () => {
  const api = new TestApi();
  const proxy = new TcpProxy();
  const server = process.env.TEST_SERVER_URL!;
  const name = `${process.env.TEST_DATABASE_PREFIX}_refusals_${process.pid}`;
  let user: TestUser;

  beforeAll(async () => {
    const url = await createDatabase(server, name, `${process.env.TEST_DATABASE_PREFIX}_template`);
    const settings = { REQUEST_TIMEOUT: '2000', LOGIN_RATE_LIMIT: '1000' };
    api.app = await startApp({ databaseUrl: await proxy.start(url), settings });
    user = await api.user();
  });

  afterAll(async () => {
    await api.app?.stop();
    proxy.stop();
    await dropDatabase(server, name);
  });

  const tus = { 'Tus-Resumable': '1.0.0', 'Upload-Length': '1' };

  /** A request for each way to the database: a shared read, a list, a write, a joint transaction, the locks of uploads. */
  const needy = (): Promise<Answer>[] => [
    api.as(user).get('/users/profile'),
    api.get('/products'),
    api.post('/auth/tokens', { username: user.username, password: user.password }),
    api.post('/users', { username: 'newcomer', email: 'newcomer@example.com', password: 'long enough' }),
    api.post(
      '/users',
      { username: 'another', email: 'another@example.com', password: 'long enough' },
      { 'Idempotency-Key': randomUUID() },
    ),
    api.as(user).post('/uploads', undefined, tus),
    api.get('//health/ready'),
  ];

  async function expectOutage(): Promise<void> {
    for (const answer of await Promise.all(needy())) expectError(answer, 'SERVICE_UNAVAILABLE', { secret: SECRET });
    expect((await api.get('//health/live')).status).toBe(200);
  }

  it.each(Object.entries(impersonators))(
    'is a 503 with Retry-After when it %s, and over with it',
    async (_how, how) => {
      proxy.impersonate(how);
      await expectOutage();
      proxy.accept();

      expect((await api.as(user).get('/users/profile')).status).toBe(200);
    },
  );

  it('is a 503 when it accepts and says nothing, after a wait that ends', async () => {
    proxy.impersonate(() => undefined);
    await expectOutage();
    proxy.refuse();
    proxy.accept();

    expect((await api.as(user).get('/users/profile')).status).toBe(200);
  });

  it('is a 503 when PostgreSQL itself is told to take none, and over when it is told to take them again', async () => {
    await query(server, `ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
    await query(server, 'SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = $1', [name]);
    await expectOutage();
    await query(server, `ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);

    expect((await api.as(user).get('/users/profile')).status).toBe(200);
  });

  it('fails a job alone when it breaks while the time limit of the job is set', async () => {
    proxy.holdAnswersTo('SET statement_timeout');
    const job = inBackground(() => api.app.nest.get(DataSource).query('SELECT 1'), LIMIT).catch(
      (error: unknown) => error,
    );
    await waitFor(() => proxy.waiting === 1);
    proxy.refuse();

    expect(toApiError(await job)).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    proxy.passAnswers();
    proxy.accept();
    expect((await api.as(user).get('/users/profile')).status).toBe(200);
  });
});

describe('A connection that was to be encrypted', () => {
  let server: Server;
  let answer: (client: Socket) => void;

  beforeAll(async () => {
    server = createServer((client) => answer(client.on('error', () => undefined)));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });

  afterAll(() => server.close());

  it.each<[string, (client: Socket) => void]>([
    ['knows no encryption', (client) => client.once('data', () => client.write('N'))],
    ['answers what nobody understands', (client) => client.once('data', () => client.write('?'))],
    ['breaks off the agreement', (client) => client.once('data', () => client.write('S', () => client.end()))],
    [
      'agrees and talks something else',
      (client) => client.once('data', () => client.write('S', () => client.write('HTTP/1.1 400 Bad Request\r\n\r\n'))),
    ],
  ])('is a 503 when the server %s', async (_how, behaviour) => {
    answer = behaviour;
    const { port } = server.address() as AddressInfo;
    const connectionString = `postgres://nobody@127.0.0.1:${port}/none?sslmode=verify-full`;
    const pool = new CancellablePool({ connectionString, connectionTimeoutMillis: 5_000 });

    const failure: unknown = await pool.query('SELECT 1').catch((error: unknown) => error);
    await pool.end();

    expect(toApiError(failure)).toMatchObject({ code: 'SERVICE_UNAVAILABLE', headers: { 'Retry-After': '1' } });
  });
});
