import { DataSource } from 'typeorm';
import { type Client, expectSuccess, waitFor } from '../../src/platform/testing';
import { aPost, aProduct } from '../support/builders';
import { everythingSettled } from '../support/feed';
import { useTestApi } from '../support/test-api';
import { TO_LOOPBACK, useReceiver } from '../support/webhook-receiver';

interface Row {
  id: number;
  version: number;
}

/** More than the deliveries that wait at once: the dispatcher makes 1,000 of them. */
const MANY = 1_300;
/** The most that wait of one resource before further changes become one. */
const OF_RESOURCE = 100;

describe('What a receiver refuses', () => {
  const api = useTestApi({ deliverAfter: 0, settings: { ...TO_LOOPBACK, WEBHOOK_MAX_DELAY: '1' } });
  const receiver = useReceiver();
  const database = () => api.app.nest.get(DataSource);
  let admin: Client;

  beforeAll(async () => (admin = api.as(await api.admin())));
  afterEach(() => database().query('DELETE FROM webhooks'));

  const product = async () => expectSuccess(await admin.post('/products', aProduct()), 201, 'Created') as Row;
  const post = async () => expectSuccess(await admin.post('/posts', aPost()), 201, 'Created') as Row;
  const create = async (...types: string[]) => {
    await everythingSettled(api);
    const body = { url: receiver.current.url, types };
    return (expectSuccess(await admin.post('/webhooks', body), 201, 'Created') as Row).id;
  };
  const hasAccepted = (type: string, { id }: Row) =>
    receiver.current.accepted.some(({ body: { data } }) => data.type === type && data.id === id);
  const versionsOf = ({ id }: Row) =>
    receiver.current.accepted.filter(({ body }) => body.data.id === id).map(({ body }) => body.data.version!);
  const changeOften = ({ id }: Row) =>
    database().query(
      `DO $$ BEGIN FOR turn IN 1..${MANY} LOOP UPDATE products SET stock = turn WHERE id = ${id}; END LOOP; END $$`,
    );

  it('keeps no other resource away, however often it changes, and comes in its order when it is taken again', async () => {
    const [refused, other] = [await product(), await product()];
    await create('products');
    let isRefused = true;
    receiver.current.answer = ({ body }) => (isRefused && body.data.id === refused.id ? 500 : 204);
    await changeOften(refused);
    expect((await admin.patch(`/products/${other.id}`, { stock: 5 })).status).toBe(200);
    await waitFor(() => hasAccepted('products', other));
    expect(hasAccepted('products', refused)).toBe(false);

    await changeOften(refused);
    const next = await product();
    await waitFor(() => hasAccepted('products', next));
    isRefused = false;
    const { version } = expectSuccess(await admin.get(`/products/${refused.id}`)) as Row;
    await waitFor(() => versionsOf(refused).includes(version));
    const versions = versionsOf(refused);
    expect(versions).toEqual([...versions].sort((one, another) => one - another));
    // The first window, and of what came later a crowd at most.
    expect(versions.length).toBeLessThanOrEqual(1_000 + OF_RESOURCE);
  }, 60_000);

  it('keeps no other resource away, however many are refused', async () => {
    await create('products', 'posts');
    receiver.current.answer = ({ body }) => (body.data.type === 'products' ? 500 : 204);
    await database().query(
      `INSERT INTO products (name, price, stock) SELECT 'Refused ' || number, 1, 1 FROM generate_series(1, ${MANY}) AS number`,
    );
    const taken = await post();

    await waitFor(() => hasAccepted('posts', taken), 60_000);
  }, 90_000);
});
