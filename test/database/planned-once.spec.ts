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
const AT_ONCE = 8;

const MANY_PRODUCTS = `
  INSERT INTO products (name, price) SELECT 'Planned ' || number, 1 FROM generate_series(1, 5000) AS number;
  ANALYZE products`;

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
  let first: number;

  beforeAll(async () => {
    user = await api.user();
    const admin = await api.admin();
    client = api.as(admin);
    own = new Fixtures(api, admin);
    product = await own.product({ stock: 1_000 });
    post = await own.post();
    // PostgreSQL compares plans by their estimated cost, which says nothing while a table has a page.
    const database = api.app.nest.get(DataSource);
    await database.query(MANY_PRODUCTS);
    [{ first }] = await database.query<{ first: number }[]>(
      "SELECT min(id) AS first FROM products WHERE name LIKE 'Planned%'",
    );
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
    [
      'updates of several requests',
      (place) => together((index) => client.patch(`/products/${first + index}`, { stock: place + index })),
    ],
    ['inserts of several requests', () => together(() => client.post('/products', aProduct()))],
    ['a child of a row', () => client.post(`/posts/${post.id}/comments`, { content: 'Thanks' })],
    ['a first page', (place) => client.get(`/products?sort=name&size=${place}`)],
    ['a page by its number', (place) => client.get(`/products?sort=price&page=${2 * place}`)],
    ['a page by a cursor', () => followCursor()],
    ['a deletion', async () => client.delete(`/products/${(await own.product()).id}`)],
  ];
  const order = () => ({ items: [{ product_id: product.id, quantity: 1 }] });

  let next = '';
  async function followCursor(): Promise<Answer> {
    const answer = await client.get(`//api/v2/products?sort=name${next}`);
    next = `&cursor=${(answer.body as { pagination: { next: string } }).pagination.next}`;
    return answer;
  }

  async function together(ask: (index: number) => Promise<Answer>): Promise<Answer> {
    const answers = await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => ask(index)));
    return answers.find(({ status }) => status >= 300) ?? answers[0];
  }

  it.each(requests)('is planned once for each connection: %s', async (_name, ask) => {
    for (let place = 1; place <= TIMES; place++) expect((await ask(place)).status).toBeLessThan(300);

    const known = await preparedOf(poolOf(api.app.nest.get(DataSource)));
    expect(known.length).toBeGreaterThan(0);
    expect(known.filter(({ custom }) => custom > FIRST).map(({ statement }) => statement)).toEqual([]);
  });
});
