import { join } from 'node:path';
import { Controller, Get, Module } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { Public } from '../../src/platform/auth/access.decorators';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/platform/database/embedded-postgres';
import { expectError, query, RowLock, times, waitFor } from '../../src/platform/testing';
import { postmasterOf, type ServiceProcess, useServices } from '../support/service-process';
import { useTestApi } from '../support/test-api';

/** What the handler below waits for, in the middle of a transaction. */
const gate = { open: () => {}, closed: Promise.resolve() };

@Controller('pauses')
class PausesController {
  constructor(@InjectDataSource() private readonly database: DataSource) {}

  @Get()
  @Public()
  pause(): Promise<void> {
    return this.database.transaction(async (manager) => {
      await manager.query('SELECT 1');
      await gate.closed;
      await manager.query('SELECT 2');
    });
  }
}

@Module({ controllers: [PausesController] })
class PausesModule {}

const account = { username: 'ada', password: 'long enough' };

describe('A database that goes away and comes back', () => {
  const services = useServices({ keep: true });
  let directory: string;
  let database: EmbeddedPostgres;
  let service: ServiceProcess;
  let authorization: Record<string, string>;
  let id: number;

  const startDatabase = () => startEmbeddedPostgres(join(directory, 'postgres'), { settings: { fsync: 'off' } });

  async function answerOf(sent: Promise<Response>) {
    const response = await sent;
    return { status: response.status, headers: response.headers, text: await response.text() };
  }

  /** Requests of every kind that needs the database. */
  const needy = () => [
    service.get('/api/v1/users/profile', authorization),
    service.get('/api/v1/posts'),
    service.send('POST', '/auth/tokens', account),
    service.send('POST', '/posts', { title: 'A post', content: 'of a test' }, authorization),
  ];

  beforeAll(async () => {
    directory = services.newDirectory();
    database = await startDatabase();
    service = await services.start({ DATABASE_URL: database.url, NODE_ENV: 'test', DATA_DIR: directory });
    const user = await service.send('POST', '/users', { ...account, email: 'ada@example.com' });
    const tokens = await service.send('POST', '/auth/tokens', account);
    id = (await user.json()).data.id;
    authorization = { Authorization: `Bearer ${(await tokens.json()).data.access_token}` };
  });

  afterAll(() => database.stop());

  async function expectAllWell(): Promise<void> {
    const answers = await Promise.all(needy().map(answerOf));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 201, 201]);
    expect((await service.get('/health/ready')).status).toBe(200);
  }

  async function expectOutage(): Promise<void> {
    for (const answer of await Promise.all(needy().map(answerOf))) expectError(answer, 'SERVICE_UNAVAILABLE');
    expectError(await answerOf(service.get('/health/ready')), 'SERVICE_UNAVAILABLE');
    expect((await service.get('/health/live')).status).toBe(200);
    expect((await service.get('/.well-known/jwks.json')).status).toBe(200);
  }

  it('is a 503 for what needs it, and over by itself as soon as it is back', async () => {
    await expectAllWell();

    await database.stop();
    await expectOutage();
    await expectOutage();

    const { url } = database;
    database = await startDatabase();
    expect(database.url).toBe(url);
    await expectAllWell();
  });

  it('is a 503 for requests that are under way when it crashes', async () => {
    const lock = await RowLock.of(database.url, 'users', id);
    const changes = times(5, (index) =>
      answerOf(service.send('PATCH', `/users/${id}`, { name: `Ada ${index}` }, authorization)),
    );
    await lock.awaitedBy(5);

    process.kill(postmasterOf(directory)!, 'SIGQUIT');

    for (const answer of await Promise.all(changes)) expectError(answer, 'SERVICE_UNAVAILABLE');
    await lock.release();
    database = await startDatabase();
    await expectAllWell();
    expect(await query(database.url, 'SELECT name FROM users WHERE id = $1', [id])).toEqual([{ name: null }]);
  });

  it('is not noticed when it only ends all connections', async () => {
    await Promise.all(needy());

    await query(
      database.url,
      "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'resource-api'",
    );

    await expectAllWell();
  });

  it('does not keep the service from ending', async () => {
    await database.stop();
    await expectOutage();

    expect(await service.stop()).toBe(0);
    expect(service.stderr).toBe('');
    expect(() => service.lines.map((line) => JSON.parse(line))).not.toThrow();
    expect(service.stdout).not.toMatch(/ada@example\.com|long enough|argon2id/);
  });
});

describe('A connection that is lost between two statements of a transaction', () => {
  const api = useTestApi({ imports: [PausesModule] });
  const paused = "application_name = 'resource-api' AND state = 'idle in transaction' AND datname = current_database()";

  it('is a 503, and nothing to those that come after it', async () => {
    gate.closed = new Promise((resolve) => (gate.open = resolve));
    const answer = api.get('/pauses');
    const end = `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE ${paused}`;
    await waitFor(async () => (await query(api.app.databaseUrl, end)).length === 1);

    gate.open();

    expectError(await answer, 'SERVICE_UNAVAILABLE');
    expect((await api.get('/pauses')).status).toBe(200);
  });
});
