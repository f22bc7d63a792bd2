import { DataSource } from 'typeorm';
import { countStatuses, expectError, query, RowLock, times, useNoJobs } from '../../src/platform/testing';
import { OrderExpiry } from '../../src/resources/orders/order-expiry';
import { aProduct, anOrderOf } from '../support/builders';
import { TestApi, type TestUser, useTestApi } from '../support/test-api';
import { startApp } from '../support/test-app';

const LIMIT = 5;

describe('An order that nobody has paid', () => {
  // The service's own sweeps would end orders between the steps of a test.
  useNoJobs();
  const api = useTestApi({ settings: { MAX_OPEN_ORDERS: String(LIMIT), ORDER_EXPIRY: '3600' } });
  const other = new TestApi();
  let admin: TestUser;

  beforeAll(async () => {
    admin = await api.admin();
    other.app = await startApp({ databaseUrl: api.app.databaseUrl });
  });
  afterAll(() => other.app?.stop());

  const product = async (attributes: object = {}): Promise<{ id: number; version: number }> =>
    (await api.as(admin).post('/products', aProduct({ stock: 100, ...attributes }))).body.data;
  const stockOf = async ({ id }: { id: number }) => (await api.get(`/products/${id}`)).body.data.stock;
  const order = (user: TestUser, ...lines: Parameters<typeof anOrderOf>) =>
    api.as(user).post('/orders', anOrderOf(...lines));
  const statusOf = async (id: number) => (await api.as(admin).get(`/orders/${id}`)).body.data.status;
  const move = (id: number, status: string, by = admin) => api.as(by).patch(`/orders/${id}/status`, { status });
  const database = () => api.app.nest.get(DataSource);
  const setExpiry = (moment: string) =>
    query(api.app.databaseUrl, `UPDATE orders SET expires_at = ${moment} WHERE expires_at IS NOT NULL`);
  const age = () => setExpiry("now() - interval '1 second'");
  // What earlier tests have left has no end.
  beforeEach(() => setExpiry('NULL'));
  /** As both instances do it, at the same moment and several times. */
  const sweep = async () => {
    const sweeps = [api, other, api, other].map(({ app }) => app.nest.get(OrderExpiry).sweep());
    return (await Promise.all(sweeps)).reduce((sum, count) => sum + count, 0);
  };

  it('is cancelled when its time is up, by one of the instances, and its stock is back once', async () => {
    const [cup, pot] = [await product(), await product()];
    const user = await api.user();
    const ids = [];
    for (const lines of [[cup, pot], [pot, cup], [cup]]) ids.push((await order(user, ...lines)).body.data.id);
    expect([await stockOf(cup), await stockOf(pot)]).toEqual([97, 98]);

    expect(await sweep()).toBe(0);
    await age();
    expect(await sweep()).toBe(3);
    expect(await sweep()).toBe(0);

    expect(await Promise.all(ids.map(statusOf))).toEqual(['CANCELLED', 'CANCELLED', 'CANCELLED']);
    expect([await stockOf(cup), await stockOf(pot)]).toEqual([100, 100]);
    // The second version came when it was made older.
    const read = await api.as(user).get(`/orders/${ids[0]}`);
    expect([read.headers.get('etag'), read.body.data.updated_at > read.body.data.created_at]).toEqual(['"3"', true]);
  });

  it('has the time that the setting says, and one that was there before has no end', async () => {
    const user = await api.user();
    const { id } = (await order(user, await product())).body.data;
    const [{ seconds }] = await database().query<{ seconds: number }[]>(
      'SELECT extract(epoch FROM expires_at - created_at) AS seconds FROM orders WHERE id = $1',
      [id],
    );
    expect(seconds).toBeGreaterThan(3_590);
    expect(seconds).toBeLessThan(3_610);

    await database().query("UPDATE orders SET expires_at = NULL, created_at = '2020-01-01' WHERE id = $1", [id]);
    expect(await sweep()).toBe(0);
    expect(await statusOf(id)).toBe('PENDING');
  });

  it('is left alone once it is paid or cancelled', async () => {
    const cup = await product();
    const user = await api.user();
    const [paid, cancelled] = [(await order(user, cup)).body.data.id, (await order(user, cup)).body.data.id];
    await move(paid, 'PAID');
    await move(cancelled, 'CANCELLED', user);
    await age();

    expect(await sweep()).toBe(0);
    expect(await Promise.all([paid, cancelled].map(statusOf))).toEqual(['PAID', 'CANCELLED']);
    expect(await stockOf(cup)).toBe(99);
  });

  it('ends once, whoever is first: its buyer, an administrator or its time, amid others who buy the same', async () => {
    const products = [
      await product({ stock: 1_000 }),
      await product({ stock: 1_000 }),
      await product({ stock: 1_000 }),
    ];
    const buyers = await Promise.all(times(6, () => api.user()));
    const mixed = (index: number) => [...products.slice(index % 3), ...products.slice(0, index % 3)];
    const made = await Promise.all(times(24, (index) => order(buyers[index % 6], ...mixed(index))));
    expect(countStatuses(made)).toEqual({ 201: 24 });
    await age();

    const ids = made.map(({ body }) => body.data.id);
    const [, ...answers] = await Promise.all([
      sweep(),
      ...ids.map((id, index) => move(id, index % 2 ? 'PAID' : 'CANCELLED')),
      ...times(12, (index) => order(buyers[index % 6], ...mixed(index + 1))),
    ]);

    expect(Object.keys(countStatuses(answers)).filter((status) => !['200', '201', '409'].includes(status))).toEqual([]);
    const [{ sold }] = await database().query<{ sold: number }[]>(
      `SELECT coalesce(sum(quantity), 0)::integer AS sold FROM order_items JOIN orders ON orders.id = order_id
        WHERE status <> 'CANCELLED' AND product_id = ANY($1)`,
      [products.map(({ id }) => id)],
    );
    const left = await Promise.all(products.map(stockOf));
    expect(left.reduce((sum, stock) => sum + stock, 0) + sold).toBe(3_000);
  });

  it('stays when its product has no room for what comes back, and keeps no other from ending', async () => {
    const [full, cup] = [await product(), await product()];
    const user = await api.user();
    const ids = [(await order(user, full)).body.data.id, (await order(user, cup)).body.data.id];
    await api.as(admin).patch(`/products/${full.id}`, { stock: 2 ** 31 - 1 });
    await age();

    expect(await sweep()).toBe(1);
    expect(await Promise.all(ids.map(statusOf))).toEqual(['PENDING', 'CANCELLED']);
    expect(api.app.log.concat(other.app.log).some(({ order_id }) => order_id === ids[0])).toBe(true);
    await move(ids[0], 'PAID');
  });

  it('stays while others hold its product, and keeps no other from ending', async () => {
    const [busy, cup] = [await product(), await product()];
    const user = await api.user();
    const ids = [(await order(user, busy)).body.data.id, (await order(user, cup)).body.data.id];
    await age();
    const lock = await RowLock.of(api.app.databaseUrl, 'products', busy.id);

    expect(await sweep()).toBe(1);
    expect(await Promise.all(ids.map(statusOf))).toEqual(['PENDING', 'CANCELLED']);
    const told = api.app.log.concat(other.app.log).filter(({ order_id }) => order_id === ids[0]);
    // A statement may take longer than an order waits.
    expect(JSON.stringify(told)).toContain('lock timeout');
    await lock.release();
    expect(await sweep()).toBe(1);
  });

  it('is one of so many that a user may have: one more is 409, of however many at once', async () => {
    const cup = await product();
    const [user, another] = [await api.user(), await api.user()];

    const answers = await Promise.all(times(20, () => order(user, cup)));
    expect(countStatuses(answers)).toEqual({ 201: LIMIT, 409: 20 - LIMIT });
    expect(await stockOf(cup)).toBe(100 - LIMIT);
    const refused = expectError(await order(user, cup), 'CONFLICT');
    expect(refused.details).toBe(`You have ${LIMIT} PENDING orders, which is the limit; cancel one first`);
    expect((await order(another, cup)).status).toBe(201);
    expectError(await order(user, { id: 999_999 }), 'VALIDATION_ERROR');

    const { id } = answers.find(({ status }) => status === 201)!.body.data;
    await move(id, 'CANCELLED', user);
    expect((await order(user, cup)).status).toBe(201);
    expectError(await order(user, cup), 'CONFLICT');
  });
});

describe('The total that a buyer expects', () => {
  const api = useTestApi();
  let admin: TestUser;
  let ada: TestUser;

  beforeAll(async () => {
    admin = await api.admin();
    ada = await api.user();
  });

  const product = async (attributes: object) => (await api.as(admin).post('/products', aProduct(attributes))).body.data;
  const order = (body: object) => api.as(ada).post('/orders', body);

  it('is what the order costs, or nothing is bought', async () => {
    const cup = await product({ price: 10, stock: 5 });
    const body = { ...anOrderOf([cup, 2]), expected_total: 20 };
    expect(await order(body)).toMatchObject({ status: 201, body: { data: { total_amount: 20 } } });

    await api.as(admin).patch(`/products/${cup.id}`, { price: 999 });
    const { details } = expectError(await order(body), 'CONFLICT');
    expect(details).toBe('expected_total: the products cost 1998.00 now');
    expect((await api.get(`/products/${cup.id}`)).body.data.stock).toBe(3);
    expect((await order({ ...body, expected_total: 1998 })).status).toBe(201);
    expect((await order(anOrderOf(cup))).status).toBe(201);
  });

  it.each([
    [0.1, 3, 0.3, 0.31],
    [1.1, 3, 3.3, 3.29],
    [0.07, 100, 7, 7.01],
    [9_999_999_999.99, 1, 9_999_999_999.99, 9_999_999_999.98],
    [0, 1, 0, 0.01],
  ])('is compared to the cent: %d, %d times, is %d and not %d', async (price, quantity, total, wrong) => {
    const cup = await product({ price, stock: 1_000 });
    const body = anOrderOf([cup, quantity]);

    expectError(await order({ ...body, expected_total: wrong }), 'CONFLICT');
    expect((await order({ ...body, expected_total: total })).status).toBe(201);
  });

  it.each([-1, 0.001, '20', null, 1e10])('is an amount of money: not %j', async (expected_total) => {
    const cup = await product({ price: 10, stock: 5 });
    const { fields } = expectError(await order({ ...anOrderOf(cup), expected_total }), 'VALIDATION_ERROR');

    expect(fields?.map(({ field }) => field)).toEqual(['expected_total']);
  });
});
