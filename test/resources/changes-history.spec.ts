import { DataSource } from 'typeorm';
import { insertRow } from '../../src/platform';
import { type Client, expectError, expectSuccess, waitFor } from '../../src/platform/testing';
import { Product } from '../../src/resources/products/product.entity';
import { aProduct } from '../support/builders';
import { EventReader } from '../support/event-reader';
import { changesSince, markNow } from '../support/feed';
import { type TestUser, useTestApi } from '../support/test-api';

/** Numbers that a database gave before another one took over. */
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
  const move = (numbers: number) =>
    database().query(`SELECT setval('audit_events_id_seq', last_value + ${numbers}) FROM audit_events_id_seq`);

  /** Calls the function when the process has seen numbers that are lost afterwards. */
  async function loseNumbers(see: () => Promise<void>): Promise<void> {
    await product();
    await move(LOST);
    await see();
    await move(-LOST);
  }

  it('has a mark before all that may still come', async () => {
    await loseNumbers(async () => void (await markNow(admin)));
    const mark = await markNow(admin);
    const made: number[] = [];
    await database().transaction(async (manager) => {
      made.push((await insertRow(manager, Product, aProduct() as Partial<Product>)).id);
      made.push(await product());
      const { changes } = expectSuccess(await admin.get(`/changes?types=products&cursor=${mark}`)) as { changes: [] };
      expect(changes).toEqual([]);
    });

    const told = await changesSince(api, admin, mark, 'types=products');
    expect(told.map(({ id }) => id)).toEqual(made);
  });

  it('refuses a mark of the numbers that are lost', async () => {
    let mark = '';
    await loseNumbers(async () => void (mark = await markNow(admin)));
    await markNow(admin);

    expectError(await admin.get(`/changes?types=products&cursor=${mark}`), 'CHANGES_EXPIRED');
  });

  it('ends its streams, and those that come back begin anew', async () => {
    const url = `http://127.0.0.1:${api.app.port}/api/v1/changes?types=products`;
    const headers = { Authorization: `Bearer ${user.token}` };
    const reader = await EventReader.open(url, headers);
    await loseNumbers(async () => void (await markNow(admin)));
    await waitFor(() => reader.hasEnded);
    const fresh = await EventReader.open(url, headers);
    await waitFor(() => fresh.lastId !== undefined);
    const id = await product();

    expect(await fresh.until(1)).toMatchObject([{ id }]);
    fresh.close();
  });
});
