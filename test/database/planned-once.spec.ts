import { DataSource } from 'typeorm';
import { type CancellablePool, poolOf } from '../../src/platform/transactions/cancellable-pool';
import { type Answer, type Client } from '../../src/platform/testing';
import { aProduct } from '../support/builders';
import { Fixtures, type Row } from '../support/fixtures';
import { type TestUser, useTestApi } from '../support/test-api';

interface Prepared {
  statement: string;
  generic: number;
  custom: number;
}

/** PostgreSQL plans the first five executions for their values, and then compares. */
const FIRST = 5;
const TIMES = 20;

const PREPARED = `
  SELECT statement, generic_plans::integer AS generic, custom_plans::integer AS custom
    FROM pg_prepared_statements WHERE generic_plans + custom_plans > ${FIRST}`;

/** What the connections of a pool know. */
async function preparedOf(pool: CancellablePool): Promise<Prepared[]> {
  const clients = await Promise.all(Array.from({ length: pool.totalCount }, () => pool.connect()));
  try {
    const known = await Promise.all(clients.map((client) => client.query<Prepared>(PREPARED)));
    return known.flatMap(({ rows }) => rows);
  } finally {
    for (const client of clients) client.release();
  }
}

describe('A statement that comes often', () => {
  const api = useTestApi();
  let client: Client;
  let own: Fixtures;
  let product: Row;
  let post: Row;
  let user: TestUser;

  beforeAll(async () => {
    user = await api.user();
    const admin = await api.admin();
    client = api.as(admin);
    own = new Fixtures(api, admin);
    product = await own.product({ stock: 1_000 });
    post = await own.post();
  });

  const requests: [name: string, ask: (place: number) => Promise<Answer>][] = [
    ['a read of a row', () => client.get(`/products/${product.id}`)],
    ['a read of a user', () => client.get(`/users/${user.id}`)],
    ['an insert', () => client.post('/products', aProduct())],
    [
      'an insert with a key',
      (place) => api.as(user).post('/orders', order(), { 'Idempotency-Key': `planned-${place}` }),
    ],
    ['an update', (place) => client.patch(`/products/${product.id}`, { stock: place })],
    ['a child of a row', () => client.post(`/posts/${post.id}/comments`, { content: 'Thanks' })],
    ['a deletion', async () => client.delete(`/products/${(await own.product()).id}`)],
  ];
  const order = () => ({ items: [{ product_id: product.id, quantity: 1 }] });

  it.each(requests)('is planned once for each connection: %s', async (_name, ask) => {
    for (let place = 1; place <= TIMES; place++) expect((await ask(place)).status).toBeLessThan(300);

    const known = await preparedOf(poolOf(api.app.nest.get(DataSource)));
    expect(known.length).toBeGreaterThan(0);
    expect(known.filter(({ custom }) => custom > FIRST).map(({ statement }) => statement)).toEqual([]);
  });
});
