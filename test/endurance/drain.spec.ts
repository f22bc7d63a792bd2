import { cloneTemplate, query, RawConnection, RowLock, waitFor } from '../../src/platform/testing';
import { Load } from '../support/load';
import { type ServiceProcess, useServices } from '../support/service-process';

describe('SIGTERM', () => {
  const services = useServices();
  let settings: Record<string, string>;
  let drop: () => Promise<void>;

  beforeAll(async () => {
    const database = await cloneTemplate();
    drop = database.drop;
    settings = { DATABASE_URL: database.url, NODE_ENV: 'test', DATA_DIR: services.newDirectory() };
  });

  afterAll(() => drop());

  async function signUp(service: ServiceProcess, username: string): Promise<{ id: number; Authorization: string }> {
    const account = { username, password: 'long enough' };
    const user = await service.send('POST', '/users', { ...account, email: `${username}@example.com` });
    const tokens = await service.send('POST', '/auth/tokens', account);
    const { id } = (await user.json()).data;
    return { id, Authorization: `Bearer ${(await tokens.json()).data.access_token}` };
  }

  it('loses no request of a load, on connections that are kept and on connections that are new', async () => {
    const service = await services.start(settings);
    const { Authorization } = await signUp(service, 'loader');
    const { port } = service;
    const writes = Load.start({
      ...{ port, method: 'POST', path: '/api/v1/posts', connections: 8, keepAlive: true },
      headers: { Authorization, 'Content-Type': 'application/json' },
      body: JSON.stringify({ title: 'A post', content: 'of a load' }),
    });
    const reads = Load.start({ port, method: 'GET', path: '/api/v1/posts', connections: 8, keepAlive: false });
    await Promise.all([writes.warm, reads.warm]);

    const signalled = performance.now();
    expect(await service.stop()).toBe(0);
    expect(performance.now() - signalled).toBeLessThan(15_000);

    const [written, read] = await Promise.all([writes.report, reads.report]);
    expect(written).toMatchObject({ answered: { 201: expect.any(Number) }, closed: 8, refused: 8, lost: [] });
    expect(Object.keys(written.answered)).toEqual(['201']);
    expect(read).toMatchObject({ answered: { 200: expect.any(Number) }, refused: 8, lost: [] });
    const [{ count }] = await query(settings.DATABASE_URL, 'SELECT count(*)::int FROM posts');
    expect(count).toBe(written.answered[201]);
  });

  it('waits for a slow request, is alive but not ready meanwhile, and then not for connections that nobody uses', async () => {
    const service = await services.start(settings);
    const { id, Authorization } = await signUp(service, 'slow');
    const lock = await RowLock.of(settings.DATABASE_URL, 'users', id);
    const silent = await RawConnection.open(service.port);
    const idle = await RawConnection.open(service.port);
    const alive = await RawConnection.open(service.port);
    const probe = await RawConnection.open(service.port);
    await idle.write(getOf('/health/live')).answer();
    await alive.write(getOf('/health/live')).answer();
    await probe.write(getOf('/health/ready')).answer();
    // Its connection would be kept if nothing happened.
    const slow = (await RawConnection.open(service.port)).write(patchOf(`/api/v1/users/${id}`, Authorization));
    await lock.awaitedBy(1);

    service.signal('SIGTERM');
    await refusesConnections(service.port);
    expect((await probe.write(getOf('/health/ready')).answers(2))[1]).toMatchObject({
      status: 503,
      headers: { connection: 'close', 'retry-after': expect.any(String) },
    });
    expect((await alive.write(getOf('/health/live')).answers(2))[1].status).toBe(200);
    await lock.release();

    expect((await slow.allAnswers())[0]).toMatchObject({ status: 200, headers: { connection: 'close' } });
    const answered = performance.now();
    await Promise.all([silent.closed(), idle.closed(), probe.closed()]);
    expect(await service.ended).toBe(0);
    expect(performance.now() - answered).toBeLessThan(15_000);
    expect(await query(settings.DATABASE_URL, 'SELECT name FROM users WHERE id = $1', [id])).toEqual([
      { name: 'Changed' },
    ]);
  });
});

function getOf(path: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
}

function patchOf(path: string, authorization: string): string {
  const body = JSON.stringify({ name: 'Changed' });
  const headers = { Host: 'localhost', Authorization: authorization, 'Content-Type': 'application/json' };
  const lines = Object.entries({ ...headers, 'Content-Length': body.length }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  return [`PATCH ${path} HTTP/1.1`, ...lines, '', body].join('\r\n');
}

async function refusesConnections(port: number): Promise<void> {
  await waitFor(async () => {
    const connection = await RawConnection.open(port).catch(() => undefined);
    connection?.destroy();
    return connection === undefined;
  });
}
