import { DataSource } from 'typeorm';
import { ChangeListeners, insertRow } from '../../src/platform';
import { type Client, expectError, expectSuccess, query, type TestApp, waitFor } from '../../src/platform/testing';
import { Product } from '../../src/resources/products/product.entity';
import { aProduct } from '../support/builders';
import { everythingSettled } from '../support/feed';
import type { Row } from '../support/fixtures';
import { type TestUser, useTestApi } from '../support/test-api';
import { startApp } from '../support/test-app';

interface Feed {
  changes: { type: string; id: number; change: string; version: number; resource?: Row | null }[];
  next: string;
  more: boolean;
}

describe('Waiting for a change', () => {
  const api = useTestApi({ settings: { CHANGES_LISTENERS_PER_USER: '3' } });
  const database = () => api.app.nest.get(DataSource);
  const listening = (app = api.app) => app.nest.get(ChangeListeners).count;
  let admin: TestUser;
  let second: TestApp;

  beforeAll(async () => {
    second = await startApp({ databaseUrl: api.app.databaseUrl });
  });

  afterAll(() => second.stop());

  beforeEach(async () => {
    admin = await api.admin();
    await waitFor(() => listening() === 0);
    // Otherwise a mark of now may be before the administrator, as long as a transaction of another test file runs.
    await everythingSettled(api);
  });

  const read = async (client: Client, parameters: string) =>
    expectSuccess(await client.get(`/changes?${parameters}`)) as Feed;
  const now = async () => (await read(api.as(admin), 'cursor=now')).next;
  const product = async () => expectSuccess(await api.as(admin).post('/products', aProduct()), 201, 'Created') as Row;

  it('answers at once when there are changes already', async () => {
    const mark = await now();
    const { id } = await product();

    expect((await read(api.as(admin), `wait=30&types=products&cursor=${mark}`)).changes).toMatchObject([
      { id, change: 'CREATED' },
    ]);
  });

  it('answers with the first change that the caller may see, and its resource', async () => {
    const other = await api.user();
    const waiting = read(api.as(other), `wait=30&include=resource&cursor=${await now()}`);
    await waitFor(() => listening() === 1);
    const draft = { title: 'A draft', content: 'Not yet', status: 'DRAFT' };
    expectSuccess(await api.as(admin).post('/posts', draft), 201, 'Created');
    const { id } = await product();

    const feed = await waiting;
    expect(feed.changes).toMatchObject([{ type: 'products', id, change: 'CREATED', resource: { id } }]);
    expect((await read(api.as(other), `cursor=${feed.next}`)).changes).toEqual([]);
  });

  it('answers without changes when the time is up, with a new mark', async () => {
    const mark = await now();
    const feed = await read(api.as(admin), `wait=1&cursor=${mark}`);

    expect(feed).toMatchObject({ changes: [], more: false });
    expect(feed.next).not.toBe(mark);
    expect((await api.as(admin).get('/changes?wait=31')).status).toBe(400);
  });

  it('hears of a write of another instance, and of another program', async () => {
    const answer = fetch(`http://127.0.0.1:${second.port}/api/v1/changes?wait=30&cursor=${await now()}`, {
      headers: { Authorization: `Bearer ${admin.token}` },
    });
    await waitFor(() => listening(second) === 1);
    const { id } = await product();
    const { data } = (await (await answer).json()) as { data: Feed };
    expect(data.changes).toMatchObject([{ id, change: 'CREATED' }]);

    const waiting = read(api.as(admin), `wait=30&cursor=${data.next}`);
    await waitFor(() => listening() === 1);
    await query(api.app.databaseUrl, `UPDATE products SET stock = stock + 1, version = version + 1 WHERE id = ${id}`);
    expect((await waiting).changes).toMatchObject([{ id, change: 'UPDATED' }]);
  });

  it('waits for a transaction that commits late, and then tells all in their order', async () => {
    const mark = await now();
    const made: number[] = [];
    let waiting: Promise<Feed> | undefined;
    await database().transaction(async (manager) => {
      made.push((await insertRow(manager, Product, aProduct() as Partial<Product>)).id);
      waiting = read(api.as(admin), `wait=30&cursor=${mark}`);
      await waitFor(() => listening() === 1);
      made.push((await product()).id);
    });

    let feed = await waiting!;
    const told = [...feed.changes];
    // A transaction of another test file may have begun between the two, and hold the second back.
    while (told.length < made.length) {
      feed = await read(api.as(admin), `wait=30&cursor=${feed.next}`);
      told.push(...feed.changes);
    }
    expect(told.map(({ id }) => id)).toEqual(made);
  });

  it('has one connection of each instance for all who wait, and holds none of the pool', async () => {
    const mark = await now();
    const waiting = [1, 2, 3].map(() => read(api.as(admin), `wait=30&types=products&cursor=${mark}`));
    await waitFor(() => listening() === 3);
    const [found] = (await query(
      api.app.databaseUrl,
      `SELECT count(*) FILTER (WHERE application_name = 'resource-api changes')::integer AS listening,
              count(*) FILTER (WHERE state LIKE 'idle in%')::integer AS held
         FROM pg_stat_activity WHERE datname = current_database()`,
    )) as { listening: number; held: number }[];
    const { id } = await product();

    expect(found.listening).toBeLessThanOrEqual(2);
    expect(found.held).toBe(0);
    for (const { changes } of await Promise.all(waiting)) expect(changes).toMatchObject([{ id }]);
  });

  it('ends when its client goes', async () => {
    const abort = new AbortController();
    const headers = { Authorization: `Bearer ${admin.token}` };
    const url = `${api.url}/api/v1/changes?wait=30&cursor=${await now()}`;
    const left = fetch(url, { headers, signal: abort.signal }).catch((error: Error) => error.name);
    await waitFor(() => listening() === 1);
    abort.abort();

    expect(await left).toBe('AbortError');
    await waitFor(() => listening() === 0);
  });

  it('answers 401 when the caller signs out, and 429 to one who waits too often', async () => {
    const mark = await now();
    const waiting = [1, 2, 3].map(() => api.as(admin).get(`/changes?wait=30&cursor=${mark}`));
    await waitFor(() => listening() === 3);
    expectError(await api.as(admin).get(`/changes?wait=30&cursor=${mark}`), 'TOO_MANY_REQUESTS');
    expect((await api.as(admin).get(`/changes?cursor=${mark}`)).status).toBe(200);

    expect((await api.delete('/auth/tokens', { refresh_token: admin.refreshToken })).status).toBe(204);
    for (const answer of await Promise.all(waiting)) expectError(answer, 'UNAUTHORIZED');
  });

  it('ends with an empty answer when the service stops', async () => {
    const mark = await now();
    const answer = fetch(`http://127.0.0.1:${second.port}/api/v1/changes?wait=30&cursor=${mark}`, {
      headers: { Authorization: `Bearer ${admin.token}` },
    });
    await waitFor(() => listening(second) === 1);
    const stopped = second.nest.close();

    expect(await (await answer).json()).toMatchObject({ code: 200, data: { changes: [] } });
    await stopped;
  });
});
