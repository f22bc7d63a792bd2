import { Client as Connection } from 'pg';
import { DataSource } from 'typeorm';
import { Changes, insertRow } from '../../src/platform';
import { type Client, expectSuccess, query } from '../../src/platform/testing';
import { parseMark } from '../../src/resources/changes/mark';
import { Product } from '../../src/resources/products/product.entity';
import { aProduct } from '../support/builders';
import { changesSince, countedEvents, feedSince, markNow } from '../support/feed';
import { clientOf, type TestUser, useTestApi } from '../support/test-api';
import { startApp } from '../support/test-app';

/** Reads that wait for a second each. */
const READS = 3;

describe('The feed, while a transaction of another database runs on', () => {
  const api = useTestApi();
  let user: TestUser;
  let admin: Client;
  let other: Connection;

  beforeAll(async () => {
    user = await api.admin();
    admin = api.as(user);
  });

  beforeEach(async () => {
    const url = new URL(api.app.databaseUrl);
    url.pathname = '/postgres';
    other = new Connection({ connectionString: url.href });
    await other.connect();
    await other.query('BEGIN');
    // As a writer has one.
    await other.query('SELECT pg_current_xact_id()');
  });
  afterEach(() => other.end());

  const product = async () =>
    (expectSuccess(await admin.post('/products', aProduct()), 201, 'Created') as { id: number }).id;
  const idsSince = async (mark: string) => (await changesSince(api, admin, mark, 'types=products')).map(({ id }) => id);

  it('tells what is committed meanwhile', async () => {
    const mark = await markNow(admin);
    const made = [await product(), await product()];
    expect(await idsSince(mark)).toEqual(made);
  });

  it('has a mark of a process that has just started which is after all that was committed', async () => {
    await product();
    const fresh = await startApp({ databaseUrl: api.app.databaseUrl });
    try {
      const there = clientOf(() => `http://127.0.0.1:${fresh.port}`, { Authorization: `Bearer ${user.token}` });
      const mark = await markNow(there);
      const id = await product();
      expect(await idsSince(mark)).toEqual([id]);
    } finally {
      await fresh.stop();
    }
  });

  it('has a mark of such a process which is not before what was counted, while a writer runs on', async () => {
    await product();
    const counted = await countedEvents(api);
    await api.app.nest.get(DataSource).transaction(async (manager) => {
      await insertRow(manager, Product, aProduct() as Partial<Product>);
      const fresh = await startApp({ databaseUrl: api.app.databaseUrl });
      try {
        const there = clientOf(() => `http://127.0.0.1:${fresh.port}`, { Authorization: `Bearer ${user.token}` });
        expect(parseMark(await markNow(there))!.position).toBeGreaterThanOrEqual(counted);
      } finally {
        await fresh.stop();
      }
    });
  });

  it('begins before a writer that runs on, where nothing was committed before it', async () => {
    const fresh = await startApp();
    try {
      const database = fresh.nest.get(DataSource);
      const insert = (manager = database.manager) => insertRow(manager, Product, aProduct() as Partial<Product>);
      const changes = fresh.nest.get(Changes);
      const from = await database.transaction(async (manager) => {
        await insert(manager);
        await insert();
        return changes.before(new Date(0));
      });

      expect(from).toBe(0);
    } finally {
      await fresh.stop();
    }
  });

  it('waits for one of its own database that has written, and tells both in the order of their writes', async () => {
    const mark = await markNow(admin);
    const made: number[] = [];
    await api.app.nest.get(DataSource).transaction(async (manager) => {
      made.push((await insertRow(manager, Product, aProduct() as Partial<Product>)).id);
      made.push(await product());
      for (let reads = 0; reads < READS; reads++)
        expect((await feedSince(admin, mark, 'types=products')).changes).toEqual([]);
    });
    expect(await idsSince(mark)).toEqual(made);
  });

  it('knows a transaction that has written by the lock that each event takes', async () => {
    const text = `
      SELECT FROM pg_locks WHERE pid = $1 AND relation = 'audit_events'::regclass AND mode = 'RowExclusiveLock' AND granted`;
    await api.app.nest.get(DataSource).transaction(async (manager) => {
      const [{ pid }] = await manager.query<[{ pid: number }]>('SELECT pg_backend_pid() AS pid');
      expect(await query(api.app.databaseUrl, text, [pid])).toHaveLength(0);
      await insertRow(manager, Product, aProduct() as Partial<Product>);
      expect(await query(api.app.databaseUrl, text, [pid])).toHaveLength(1);
    });
  });
});
