import type { Server } from 'node:http';
import { type AddressInfo, connect, createServer } from 'node:net';
import { cloneTemplate, times, waitFor } from '../../src/platform/testing';
import { TestApi } from '../support/test-api';
import { startApp } from '../support/test-app';

jest.setTimeout(120_000);

const MANY = 600;
/** How long each answer of the database takes, in milliseconds. */
const DELAY = 10;

/** A database that is far away, so that reads come faster than they are answered. */
async function farFrom(url: string) {
  const { port, hostname } = new URL(url);
  const proxy = createServer((client) => {
    const server = connect(Number(port || 5432), hostname);
    client.on('error', () => server.destroy()).pipe(server);
    server.on('data', (bytes) => setTimeout(() => client.write(bytes), DELAY));
    server.on('error', () => client.destroy()).on('end', () => setTimeout(() => client.end(), DELAY));
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const proxied = new URL(url);
  proxied.host = `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  return { url: proxied.href, close: () => proxy.close() };
}

describe('Reads of one network that come faster than the database answers', () => {
  const api = new TestApi();
  let database: Awaited<ReturnType<typeof cloneTemplate>>;
  let proxy: Awaited<ReturnType<typeof farFrom>>;
  let path: string;

  beforeAll(async () => {
    database = await cloneTemplate();
    proxy = await farFrom(database.url);
    api.app = await startApp({
      databaseUrl: proxy.url,
      settings: { TRUST_PROXY: '1', DATABASE_POOL_SIZE: '2', SEARCH_CONNECTIONS: '1' },
    });
    const author = api.as(await api.user());
    const { body } = await author.post('/posts', { title: 'A title', content: 'A text' });
    path = `/posts/${body.data.id}`;
  });

  afterAll(async () => {
    await api.app?.stop();
    proxy.close();
    await database.drop();
  });

  it('let a stranger pass', async () => {
    let arrived = 0;
    let answered = 0;
    (api.app.nest.getHttpServer() as Server).on('request', () => arrived++);
    const from = (network: number) => api.with({ 'X-Forwarded-For': `10.${network}.0.1` });
    const all = times(MANY, async () => {
      const { status } = await from(1).get(path);
      answered++;
      return status;
    });
    await waitFor(() => arrived === MANY);
    const before = answered;
    expect(await from(2).get(path)).toMatchObject({ status: 200 });

    // In the order of arrival, the stranger would be the last.
    expect(MANY - answered).toBeGreaterThan((MANY - before) / 2);
    expect(new Set(await Promise.all(all))).toEqual(new Set([200]));
  });
});
