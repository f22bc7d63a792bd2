import { DataSource } from 'typeorm';
import { ChangeListeners, insertRow } from '../../src/platform';
import { expectError, expectSuccess, query, type TestApp, waitFor } from '../../src/platform/testing';
import { Product } from '../../src/resources/products/product.entity';
import { aProduct } from '../support/builders';
import { EventReader } from '../support/event-reader';
import type { Row } from '../support/fixtures';
import { type TestUser, useTestApi } from '../support/test-api';
import { startApp } from '../support/test-app';

describe('The stream of changes', () => {
  const api = useTestApi();
  const database = () => api.app.nest.get(DataSource);
  const listening = () => api.app.nest.get(ChangeListeners).count;
  const open: EventReader[] = [];
  let admin: TestUser;
  let second: TestApp;

  beforeAll(async () => {
    second = await startApp({ databaseUrl: api.app.databaseUrl });
  });

  beforeEach(async () => {
    admin = await api.admin();
  });

  afterEach(async () => {
    for (const reader of open.splice(0)) reader.close();
    await waitFor(() => listening() === 0);
  });

  afterAll(() => second.stop());

  /** A stream that has begun. */
  const follow = async (user: TestUser, parameters = '', headers: Record<string, string> = {}, app = api.app) => {
    const url = `http://127.0.0.1:${app.port}/api/v1/changes?${parameters}`;
    const reader = await EventReader.open(url, { Authorization: `Bearer ${user.token}`, ...headers });
    open.push(reader);
    if (reader.answer.status === 200) await waitFor(() => reader.lastId !== undefined);
    return reader;
  };
  const product = async () => expectSuccess(await api.as(admin).post('/products', aProduct()), 201, 'Created') as Row;
  const change = async (id: number, body: object) =>
    void expectSuccess(await api.as(admin).patch(`/products/${id}`, body));

  it('begins with a mark, and tells each change as the feed does', async () => {
    const reader = await follow(admin, 'types=products');
    const { headers } = reader.answer;
    expect(headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-accel-buffering')).toBe('no');
    expect(reader.text).toMatch(/^retry: 2000\nid: [0-9a-z]+-[0-9a-z]+\n\n$/);
    const cursor = reader.lastId!;
    const { id } = await product();
    await change(id, { stock: 3 });
    await api.as(admin).delete(`/products/${id}`);

    const told = await reader.until(3);
    const { data } = (await api.as(admin).get(`/changes?types=products&cursor=${cursor}`)).body;
    expect(told).toEqual(data.changes);
    expect(told).toMatchObject([{ change: 'CREATED' }, { change: 'UPDATED' }, { change: 'DELETED' }]);
  });

  it('adds the resource as its own route shows it', async () => {
    const reader = await follow(admin, 'types=products&include=resource');
    const { id } = await product();

    const { data } = (await api.as(admin).get(`/products/${id}`)).body;
    expect(await reader.until(1)).toMatchObject([{ id, resource: data }]);
  });

  it('goes on after Last-Event-ID, which goes before the cursor, without a gap and without a repetition', async () => {
    const before = await follow(admin, 'types=products');
    const made = [(await product()).id, (await product()).id];
    await before.until(2);
    before.close();
    made.push((await product()).id, (await product()).id);

    const after = await follow(admin, 'types=products&cursor=now', { 'Last-Event-ID': before.lastId! });
    made.push((await product()).id);
    await after.until(3);
    expect([...before.data, ...after.data].map((one) => (one as Row).id)).toEqual(made);
    expect(new Set([...before.events, ...after.events].map(({ id }) => id)).size).toBeGreaterThanOrEqual(made.length);
  });

  it('replays more than an answer holds, and then follows', async () => {
    const { lastId } = await follow(admin, 'types=products');
    const [first, ...rest] = Array.from({ length: 250 }, () => aProduct() as Partial<Product>);
    for (const one of [first, ...rest]) await insertRow(database().manager, Product, one);

    const late = await follow(admin, `types=products&cursor=${lastId}`, {}, second);
    await late.until(250);
    const { id } = await product();
    const told = (await late.until(251)) as Row[];
    expect(new Set(told.map((one) => one.id)).size).toBe(251);
    expect(told.at(-1)!.id).toBe(id);
  });

  it('hears of what is written at another instance, and by another program', async () => {
    const there = await follow(admin, 'types=products', {}, second);
    const { id } = await product();
    await there.until(1);
    await query(api.app.databaseUrl, `UPDATE products SET stock = stock + 1, version = version + 1 WHERE id = ${id}`);

    expect(await there.until(2)).toMatchObject([{ id }, { id, change: 'UPDATED' }]);
  });

  it('tells a transaction that commits late in the order of its events', async () => {
    const reader = await follow(admin, 'types=products');
    const made: number[] = [];
    await database().transaction(async (manager) => {
      made.push((await insertRow(manager, Product, aProduct() as Partial<Product>)).id);
      made.push((await product()).id);
    });

    await reader.until(2);
    expect(reader.data.map((one) => (one as Row).id)).toEqual(made);
  });

  it('tells each listener what it may read, or could read until now', async () => {
    const [author, stranger] = [await api.user(), await api.user()];
    const [mine, theirs, all] = [
      await follow(author, 'types=posts'),
      await follow(stranger, 'types=posts'),
      await follow(admin, 'types=posts'),
    ];
    const client = api.as(author);
    const draft = { title: 'A draft', content: 'Not yet', status: 'DRAFT' };
    const { id } = expectSuccess(await client.post('/posts', draft), 201, 'Created') as Row;
    await client.patch(`/posts/${id}`, { status: 'PUBLISHED' });
    await client.patch(`/posts/${id}`, { status: 'DRAFT' });

    const kinds = async (reader: EventReader, count: number) =>
      (await reader.until(count)).map((one) => (one as { change: string }).change);
    expect(await kinds(theirs, 2)).toEqual(['CREATED', 'DELETED']);
    expect(await kinds(mine, 3)).toEqual(['CREATED', 'UPDATED', 'UPDATED']);
    expect(await kinds(all, 3)).toEqual(await kinds(mine, 3));
  });

  /** What happens, how, and the status of the next request with the same token. */
  const endings: [string, number, (user: TestUser) => Promise<unknown>][] = [
    ['signs out', 401, (user) => api.delete('/auth/tokens', { refresh_token: user.refreshToken })],
    ['is suspended', 401, (user) => api.as(admin).patch(`/users/${user.id}`, { status: 'SUSPENDED' })],
    ['loses a role', 200, (user) => api.as(admin).patch(`/users/${user.id}`, { roles: ['USER'] })],
  ];

  it.each(endings)('ends when its caller %s, and leaves that of others', async (_cause, status, end) => {
    const [user, other] = [await api.admin(), await follow(admin)];
    const reader = await follow(user);
    const answer = (await end(user)) as { status: number };
    expect([200, 204]).toContain(answer.status);
    const since = performance.now();
    await waitFor(() => reader.hasEnded);

    // A second on a machine with time to spare.
    expect(performance.now() - since).toBeLessThan(5_000);
    expect(other.hasEnded).toBe(false);
    expect((await follow(user)).answer.status).toBe(status);
  });

  it('tells an administrator who has lost the role nothing that happened after that', async () => {
    const { id } = await product();
    const order = (user: TestUser) => api.as(user).post('/orders', { items: [{ product_id: id, quantity: 1 }] });
    const told: unknown[] = [];
    for (let turn = 0; turn < 5; turn++) {
      const [demoted, buyer] = [await api.admin(), await api.user()];
      const reader = await follow(demoted, 'types=orders');
      expectSuccess(await order(buyer), 201, 'Created');
      await reader.until(1);
      expectSuccess(await api.as(admin).patch(`/users/${demoted.id}`, { roles: ['USER'] }));
      expectSuccess(await order(buyer), 201, 'Created');
      await waitFor(() => reader.hasEnded);
      told.push(...reader.data.slice(1));
    }

    expect(told).toEqual([]);
  });

  it('refuses before it begins: an old mark, no mark, no token, a representation that there is not', async () => {
    const bearer = { Authorization: `Bearer ${admin.token}` };
    const old = `0-${(Date.now() - 8 * 86_400_000).toString(36)}`;
    const ask = (headers: Record<string, string>) =>
      api.with({ Accept: 'text/event-stream', ...headers }).get('/changes');

    expectError(await ask({ ...bearer, 'Last-Event-ID': old }), 'CHANGES_EXPIRED');
    expectError(await ask({ ...bearer, 'Last-Event-ID': 'x' }), 'VALIDATION_ERROR', {
      fields: { 'Last-Event-ID': 'cursor' },
    });
    expectError(await ask({}), 'UNAUTHORIZED');
    expectError(await api.with({ ...bearer, Accept: 'text/csv' }).get('/changes'), 'NOT_ACCEPTABLE');
    expect(listening()).toBe(0);
  });

  it('is XML or JSON for those who ask for that', async () => {
    const xml = await api
      .with({ Authorization: `Bearer ${admin.token}`, Accept: 'application/xml' })
      .get('/changes?cursor=now');
    expect([xml.status, xml.text]).toEqual([200, expect.stringContaining('<next>')]);
    const head = await fetch(`${api.url}/api/v1/changes`, {
      method: 'HEAD',
      headers: { Authorization: `Bearer ${admin.token}`, Accept: 'text/event-stream' },
    });
    expect([head.status, head.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
  });

  it('ends with the service, and its client goes on at another instance', async () => {
    const reader = await follow(admin, 'types=products', {}, second);
    const { id } = await product();
    await reader.until(1);
    const stopped = second.nest.close();
    await waitFor(() => reader.hasEnded);
    const missed = await product();

    const after = await follow(admin, 'types=products', { 'Last-Event-ID': reader.lastId! });
    expect([...reader.data, ...(await after.until(1))]).toMatchObject([{ id }, { id: missed.id }]);
    await stopped;
  });
});
