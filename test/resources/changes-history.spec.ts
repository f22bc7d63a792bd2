import { DataSource } from 'typeorm';
import { insertRow } from '../../src/platform';
import { type Client, expectError, expectSuccess, waitFor } from '../../src/platform/testing';
import { Product } from '../../src/resources/products/product.entity';
import { aProduct } from '../support/builders';
import { EventReader } from '../support/event-reader';
import { changesSince, feedSince, markNow } from '../support/feed';
import { type TestUser, useTestApi } from '../support/test-api';

/** Numbers that a database gave before another one with less took over. */
const LOST = 1_000;

describe('The feed, where numbers of events are given again', () => {
  const api = useTestApi();
  let user: TestUser;
  let admin: Client;

  beforeAll(async () => {
    user = await api.admin();
    admin = api.as(user);
  });

  const database = () => api.app.nest.get(DataSource);
  const product = async () =>
    (expectSuccess(await admin.post('/products', aProduct()), 201, 'Created') as { id: number }).id;
  const last = async () => (await database().query<{ id: number }[]>('SELECT max(id) AS id FROM audit_events'))[0].id;

  /** Calls the function when the process has seen an event that is lost afterwards, with its number and others. */
  async function loseEvents(see: () => Promise<void>): Promise<void> {
    await product();
    const before = await last();
    await database().query(`SELECT setval('audit_events_id_seq', $1)`, [before + LOST]);
    await product();
    await see();
    await database().transaction(async (manager) => {
      await manager.query("SET LOCAL session_replication_role = 'replica'");
      await manager.query('DELETE FROM audit_events WHERE id > $1', [before]);
      await manager.query(`SELECT setval('audit_events_id_seq', $1)`, [before]);
    });
  }

  it('has a mark before all that may still come', async () => {
    await loseEvents(async () => void (await markNow(admin)));
    const mark = await markNow(admin);
    const made: number[] = [];
    await database().transaction(async (manager) => {
      made.push((await insertRow(manager, Product, aProduct() as Partial<Product>)).id);
      made.push(await product());
      expect((await feedSince(admin, mark, 'types=products')).changes).toEqual([]);
    });

    const told = await changesSince(api, admin, mark, 'types=products');
    expect(told.map(({ id }) => id)).toEqual(made);
  });

  it('refuses a mark of the numbers that are lost', async () => {
    let mark = '';
    await loseEvents(async () => void (mark = await markNow(admin)));

    expectError(await admin.get(`/changes?types=products&cursor=${mark}`), 'CHANGES_EXPIRED');
  });

  it('ends its streams, and those that come back begin anew', async () => {
    const url = `http://127.0.0.1:${api.app.port}/api/v1/changes?types=products`;
    const headers = { Authorization: `Bearer ${user.token}` };
    const reader = await EventReader.open(url, headers);
    await loseEvents(async () => void (await markNow(admin)));
    await waitFor(() => reader.hasEnded);
    const fresh = await EventReader.open(url, headers);
    await waitFor(() => fresh.lastId !== undefined);
    const id = await product();

    expect(await fresh.until(1)).toMatchObject([{ id }]);
    fresh.close();
  });
});
