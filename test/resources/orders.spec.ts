import { DataSource } from 'typeorm';
import { countStatuses, expectError, RowLock, times, waitFor } from '../../src/platform/testing';
import { OrderStatus } from '../../src/resources/orders/order.entity';
import { aProduct, anOrderOf } from '../support/builders';
import { type TestUser, useTestApi } from '../support/test-api';

describe('/orders', () => {
  const api = useTestApi();
  let admin: TestUser;
  let ada: TestUser;

  beforeAll(async () => {
    admin = await api.admin();
    ada = await api.user();
  });

  const product = async (attributes: object = {}) =>
    (await api.as(admin).post('/products', aProduct(attributes))).body.data;
  const stockOf = async ({ id }: { id: number }) => (await api.get(`/products/${id}`)).body.data.stock;
  const order = (...lines: Parameters<typeof anOrderOf>) => api.as(ada).post('/orders', anOrderOf(...lines));
  const move = (id: number, status: string, by: TestUser = admin) =>
    api.as(by).patch(`/orders/${id}/status`, { status });

  it('takes the stock, freezes names and prices, and adds up exactly', async () => {
    const cup = await product({ name: 'Cup', price: 0.1, stock: 5 });
    const pot = await product({ name: 'Pot', price: 19.99, stock: 5 });

    const { status, headers, body } = await order([cup, 3], pot);
    await api.as(admin).patch(`/products/${cup.id}`, { name: 'Mug', price: 99 });

    expect(status).toBe(201);
    expect(headers.get('location')).toBe(`/api/v1/orders/${body.data.id}`);
    expect((await api.as(ada).get(`/orders/${body.data.id}`)).body.data).toEqual({
      id: body.data.id,
      created_at: expect.any(String),
      updated_at: expect.any(String),
      version: 1,
      user_id: ada.id,
      status: 'PENDING',
      items: [
        { product_id: cup.id, quantity: 3, name: 'Cup', unit_price: 0.1 },
        { product_id: pot.id, quantity: 1, name: 'Pot', unit_price: 19.99 },
      ],
      total_amount: 20.29,
    });
    expect([await stockOf(cup), await stockOf(pot)]).toEqual([2, 4]);
  });

  it('takes all lines or none', async () => {
    const plenty = await product({ stock: 10 });
    const few = await product({ stock: 1 });
    const discontinued = await product({ status: 'DISCONTINUED' });

    expect(await order(plenty, [few, 2])).toMatchObject({
      status: 409,
      body: { error: { code: 'CONFLICT', details: `product ${few.id}: is out of stock` } },
    });
    expect(await order(plenty, discontinued)).toMatchObject({
      status: 409,
      body: { error: { details: `product ${discontinued.id}: is discontinued` } },
    });
    expect(await stockOf(plenty)).toBe(10);
  });

  it('answers 409 with all lines that can not be had, and how many pieces are left', async () => {
    const [plenty, few, none] = await Promise.all([10, 2, 0].map((stock) => product({ stock })));
    const discontinued = await product({ status: 'DISCONTINUED', stock: 5 });

    const answer = await order([few, 3], plenty, none, discontinued);
    expect(expectError(answer, 'CONFLICT').fields).toEqual([
      { field: 'items.0.quantity', rule: 'stock', message: 'must be at most 2', available: 2 },
      { field: 'items.2.quantity', rule: 'stock', message: 'is out of stock', available: 0 },
      { field: 'items.3.product_id', rule: 'stock', message: 'is discontinued', available: 0 },
    ]);
    expect(await stockOf(few)).toBe(2);
  });

  it('refuses what is no product, or stands twice, and names the line', async () => {
    const cup = await product();
    const fieldsOf = async (answer: ReturnType<typeof order>) => (await answer).body.error.fields;

    expect(await fieldsOf(order(cup, { id: 999_999 }, { id: 999_998 }))).toEqual([
      { field: 'items.1.product_id', rule: 'exists', message: 'must be a product' },
      { field: 'items.2.product_id', rule: 'exists', message: 'must be a product' },
    ]);
    expect(await fieldsOf(order(cup, cup))).toEqual([
      { field: 'items.1.product_id', rule: 'unique', message: 'must not stand in two lines' },
    ]);
    expect(await fieldsOf(order())).toEqual([{ field: 'items', rule: 'length', message: 'must hold 1 to 100 items' }]);
    expect(await fieldsOf(order([cup, 0]))).toEqual([
      { field: 'items.0.quantity', rule: 'range', message: 'must be from 1 to 1000' },
    ]);
  });

  it('refuses a total over the limit, and adds up to the very limit', async () => {
    const fortune = await product({ price: 9_999_999_999.99, stock: 10 });
    const cent = await product({ price: 0.01, stock: 10 });

    expect(await order(fortune, cent)).toMatchObject({
      status: 400,
      body: { error: { fields: [{ field: 'items' }] } },
    });
    expect(await order(fortune)).toMatchObject({ status: 201, body: { data: { total_amount: 9_999_999_999.99 } } });
    expect(await stockOf(cent)).toBe(10);
  });

  it('belongs to its buyer: others are refused, and see none of it in lists', async () => {
    const cup = await product({ name: 'A very particular cup' });
    const { data: mine } = (await order(cup)).body;
    const eve = await api.user();

    expect(await api.as(eve).get(`/orders/${mine.id}`)).toMatchObject({ status: 403 });
    expect(await move(mine.id, 'CANCELLED', eve)).toMatchObject({ status: 403 });
    expect((await api.as(eve).get('/orders')).body.pagination.total).toBe(0);
    expect(await api.as(eve).get(`/orders?userId=${ada.id}`)).toMatchObject({ status: 403 });
    expect((await api.as(eve).get(`/orders?userId=${eve.id}`)).body.data).toEqual([]);
    expect((await api.as(eve).get('/orders?search=particular')).body.data).toEqual([]);
    expect((await api.as(admin).get('/orders?search=PARTICULAR')).body.data).toEqual([mine]);
    const byAda = (await api.as(admin).get(`/orders?userId=${ada.id}&size=100`)).body.data;
    expect(new Set(byAda.map(({ user_id }: { user_id: number }) => user_id))).toEqual(new Set([ada.id]));
    expect(await api.as(admin).get(`/orders/${mine.id}`)).toMatchObject({ status: 200 });
  });

  it('moves along the allowed ways only', async () => {
    const cup = await product({ stock: 1000 });
    const allowed: Record<string, string[]> = {
      PENDING: ['PAID', 'CANCELLED'],
      PAID: ['SHIPPED', 'CANCELLED'],
      SHIPPED: ['DELIVERED'],
      DELIVERED: [],
      CANCELLED: [],
    };
    const waysTo: Record<string, string[]> = {
      PENDING: [],
      PAID: ['PAID'],
      SHIPPED: ['PAID', 'SHIPPED'],
      DELIVERED: ['PAID', 'SHIPPED', 'DELIVERED'],
      CANCELLED: ['CANCELLED'],
    };

    for (const from of Object.values(OrderStatus)) {
      for (const to of Object.values(OrderStatus)) {
        const { id } = (await order(cup)).body.data;
        for (const step of waysTo[from]) await move(id, step);
        const before = (await api.as(admin).get(`/orders/${id}`)).body.data;
        const answer = await move(id, to);
        expect([from, to, answer.status]).toEqual([from, to, from === to || allowed[from].includes(to) ? 200 : 409]);
        if (from === to) expect(answer.body.data).toEqual(before);
      }
    }
  });

  it('lets its owner cancel, and nothing else', async () => {
    const cup = await product({ stock: 5 });
    const { id } = (await order([cup, 2])).body.data;

    expect(await move(id, 'PAID', ada)).toMatchObject({ status: 403 });
    expect(await stockOf(cup)).toBe(3);
    expect(await move(id, 'CANCELLED', ada)).toMatchObject({ status: 200, body: { data: { status: 'CANCELLED' } } });
    expect(await stockOf(cup)).toBe(5);
    expect(await move(id, 'CANCELLED', ada)).toMatchObject({ status: 200 });
    expect(await stockOf(cup)).toBe(5);
  });

  it('tells an owner who wants more that it may only cancel', async () => {
    const { id } = (await order(await product())).body.data;

    expect(await move(id, 'PAID', ada)).toMatchObject({
      status: 403,
      body: { error: { message: 'The owner of an order may only cancel it' } },
    });
  });

  it('is locked by nobody who is refused, as its expiry passes over a locked order', async () => {
    const { id } = (await order(await product())).body.data;
    const eve = await api.user();
    const lock = await RowLock.of(api.app.databaseUrl, 'orders', id);
    try {
      expect(await move(id, 'CANCELLED', eve)).toMatchObject({ status: 403 });
      expect(await move(id, 'PAID', ada)).toMatchObject({ status: 403 });
      const stale = { 'If-Match': '"0"' };
      const late = api.as(ada).patch(`/orders/${id}/status`, { status: 'CANCELLED' }, stale);
      expect(await late).toMatchObject({ status: 412 });
    } finally {
      await lock.release();
    }
  });

  it('compares If-Match with the order when it is cancelled, not with its products', async () => {
    const [cup, plate] = [await product({ stock: 5 }), await product({ stock: 5 })];
    const { id } = (await order([cup, 2], [plate, 1])).body.data;
    const cancel = (tag: string) =>
      api.as(ada).patch(`/orders/${id}/status`, { status: 'CANCELLED' }, { 'If-Match': tag });

    // The order has taken stock, so each product is in its second version.
    expect(await cancel('"2"')).toMatchObject({ status: 412 });
    expect([await stockOf(cup), await stockOf(plate)]).toEqual([3, 4]);
    expect(await cancel('"1"')).toMatchObject({ status: 200 });
    expect([await stockOf(cup), await stockOf(plate)]).toEqual([5, 5]);
  });

  it('stays as it is when the stock has no room for what comes back', async () => {
    const cup = await product({ stock: 5 });
    const { id } = (await order([cup, 2])).body.data;
    await api.as(admin).patch(`/products/${cup.id}`, { stock: 2 ** 31 - 2 });

    expect(await move(id, 'CANCELLED')).toMatchObject({
      status: 409,
      body: { error: { details: `product ${cup.id}: its stock is full, and can not take the pieces back` } },
    });
    expect((await api.as(ada).get(`/orders/${id}`)).body.data.status).toBe('PENDING');
    await api.as(admin).patch(`/products/${cup.id}`, { stock: 2 ** 31 - 3 });
    expect(await move(id, 'CANCELLED')).toMatchObject({ status: 200 });
    expect(await stockOf(cup)).toBe(2 ** 31 - 1);
  });

  it('takes deleted products in the order of their ids as well when it puts them back', async () => {
    const [first, second] = [await product(), await product()];
    const { id } = (await order(second, first)).body.data;
    // In this order, so that the table no longer holds them in that of their ids.
    for (const { id } of [second, first]) await api.as(admin).delete(`/products/${id}`);

    const database = api.app.nest.get(DataSource);
    const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    const cancelled = await database.transaction(async (manager) => {
      await manager.query('SELECT FROM products WHERE id = $1 FOR UPDATE', [first.id]);
      const answer = move(id, 'CANCELLED');
      await waitFor(async () => (await database.query<[]>(waiting)).length > 0);
      // While it waits for the first, it doesn't hold the second.
      await manager.query('SELECT FROM products WHERE id = $1 FOR UPDATE NOWAIT', [second.id]);
      return { answer };
    });

    expect(await cancelled.answer).toMatchObject({ status: 200 });
  });

  it('sells no more than there is, however many ask at once', async () => {
    const cup = await product({ stock: 10 });

    const answers = await Promise.all(times(50, () => order(cup)));

    expect(countStatuses(answers)).toEqual({ 201: 10, 409: 40 });
    expect(await stockOf(cup)).toBe(0);
  });

  it('takes each step once, however many move it at once, and puts the stock back once', async () => {
    const cup = await product({ stock: 7 });
    const { id } = (await order([cup, 7])).body.data;

    const answers = await Promise.all(times(50, (index) => move(id, index % 2 ? 'PAID' : 'CANCELLED')));

    expect(Object.keys(countStatuses(answers)).sort()).toEqual(expect.arrayContaining(['200']));
    expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true);
    expect((await api.as(admin).get(`/orders/${id}`)).body.data.status).toBe('CANCELLED');
    expect(await stockOf(cup)).toBe(7);
  });
});
