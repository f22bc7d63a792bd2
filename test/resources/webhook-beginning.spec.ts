import { Client as Connection } from 'pg';
import { DataSource } from 'typeorm';
import { type Client, expectSuccess, waitFor } from '../../src/platform/testing';
import { Product } from '../../src/resources/products/product.entity';
import { insertRow } from '../../src/platform';
import { aProduct } from '../support/builders';
import { useTestApi } from '../support/test-api';
import { TO_LOOPBACK, useReceiver } from '../support/webhook-receiver';

describe('A new webhook, while another program has written, and holds the feed back', () => {
  const api = useTestApi({ deliverAfter: 0, settings: TO_LOOPBACK });
  const receiver = useReceiver();
  const database = () => api.app.nest.get(DataSource);
  let admin: Client;
  let other: Connection;

  beforeAll(async () => (admin = api.as(await api.admin())));

  /** The lock of a transaction that has written an audited row. */
  beforeEach(async () => {
    other = new Connection({ connectionString: api.app.databaseUrl });
    await other.connect();
    await other.query('BEGIN');
    await other.query('SELECT pg_current_xact_id()');
    await other.query('LOCK TABLE audit_events IN ROW EXCLUSIVE MODE');
  });
  afterEach(async () => {
    await other.end();
    await database().query('DELETE FROM webhooks');
  });

  const create = async () => {
    const body = { url: receiver.current.url, types: ['products'] };
    return (expectSuccess(await admin.post('/webhooks', body), 201, 'Created') as { id: number }).id;
  };
  const product = async () =>
    (expectSuccess(await admin.post('/products', aProduct()), 201, 'Created') as { id: number }).id;
  const told = () => receiver.current.accepted.map(({ body: { data } }) => data.id);

  it('gets what is committed after it was made, and nothing that was before', async () => {
    await product();
    await product();
    let during = 0;
    let after = 0;
    await database().transaction(async (manager) => {
      // Its event has a number before the webhook is made, between those of others.
      during = (await insertRow(manager, Product, aProduct() as Partial<Product>)).id;
      await product();
      await create();
      after = await product();
    });
    await other.query('COMMIT');
    await waitFor(() => receiver.current.accepted.length >= 2);
    const last = await product();
    await waitFor(() => told().includes(last));

    expect(told().sort((one, two) => one - two)).toEqual([during, after, last]);
  });

  it('forgets what it knew at its beginning when that is past', async () => {
    await product();
    const id = await create();
    const known = async () => {
      const text = 'SELECT isempty(known) AS empty FROM webhook_progress WHERE webhook_id = $1';
      return (await database().query<[{ empty: boolean }]>(text, [id]))[0].empty;
    };
    expect(await known()).toBe(false);
    await other.query('COMMIT');
    await product();
    await waitFor(known);
    await waitFor(() => receiver.current.accepted.length === 1);
  });
});
