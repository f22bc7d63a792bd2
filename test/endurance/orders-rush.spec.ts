import { DataSource } from 'typeorm';
import { times } from '../../src/platform/testing';
import { aProduct, anOrderOf } from '../support/builders';
import { useTestApi } from '../support/test-api';

describe('a rush on /orders', () => {
  // Every order is a transaction on products that all the others want as well; the limit is for slow machines.
  const api = useTestApi({
    settings: { DATABASE_POOL_SIZE: '20', REQUEST_TIMEOUT: '60000', MAX_OPEN_ORDERS: '10000' },
  });
  const CLIENTS = 200;
  const PRODUCTS = 20;
  const ORDERS = 10_000;
  const STOCK = 1_000;

  it('of 200 clients and 10,000 orders in mixed order of lines neither loses nor invents a piece', async () => {
    const admin = await api.admin();
    const buyers = await Promise.all(times(10, () => api.user()));
    const products: { id: number }[] = [];
    for (const one of times(PRODUCTS, () => aProduct({ stock: STOCK }))) {
      products.push((await api.as(admin).post('/products', one)).body.data);
    }
    let sent = 0;
    const statuses: Record<number, number> = {};
    const client = async (number: number) => {
      for (let index = sent++; index < ORDERS; index = sent++) {
        const answer = await api.as(buyers[number % 10]).post('/orders', someOf(products, index));
        statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
        // Every seventh is given back, so that cancelling runs against buying.
        if (answer.status === 201 && index % 7 === 0) {
          const path = `/orders/${answer.body.data.id}/status`;
          const cancelled = await api.as(buyers[number % 10]).patch(path, { status: 'CANCELLED' });
          statuses[cancelled.status] = (statuses[cancelled.status] ?? 0) + 1;
        }
      }
    };

    await Promise.all(times(CLIENTS, client));

    const database = api.app.nest.get(DataSource);
    const [{ left, least }] = await database.query<{ left: number; least: number }[]>(
      'SELECT sum(stock)::int AS left, min(stock) AS least FROM products',
    );
    const [{ sold }] = await database.query<{ sold: number }[]>(
      `SELECT sum(quantity)::int AS sold FROM order_items JOIN orders ON orders.id = order_id WHERE status <> 'CANCELLED'`,
    );
    const [{ wrong }] = await database.query<{ wrong: number }[]>(
      `SELECT count(*)::int AS wrong FROM orders WHERE total_amount <>
           (SELECT sum(quantity * unit_price) FROM order_items WHERE order_id = orders.id)`,
    );
    expect(Object.keys(statuses).sort()).toEqual(['200', '201', '409']);
    expect(left + sold).toBe(PRODUCTS * STOCK);
    expect(least).toBeGreaterThanOrEqual(0);
    expect(wrong).toBe(0);
  }, 600_000);

  /** Two to five products, in an order of lines that differs from order to order, the same in every run. */
  function someOf(products: { id: number }[], index: number) {
    const count = 2 + (index % 4);
    const start = (index * 7) % products.length;
    const step = [1, 3, 7, 9, 11, 13, 17, 19][index % 8];
    const chosen = times(count, (line) => products[(start + line * step) % products.length]);
    return anOrderOf(...chosen.map((one, line) => [one, 1 + ((index + line) % 2)] as [{ id: number }, number]));
  }
});
