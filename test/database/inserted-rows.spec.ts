import { DataSource, type EntityManager, QueryFailedError } from 'typeorm';
import { insertRows, UnitOfWork } from '../../src/platform';
import { inOneTransaction } from '../../src/platform/database/api-data-source';
import { times } from '../../src/platform/testing';
import { Order, OrderItem } from '../../src/resources/orders/order.entity';
import { Product } from '../../src/resources/products/product.entity';
import { aProduct } from '../support/builders';
import { type TestUser, useTestApi } from '../support/test-api';

/** As many as a connection sees before a statement has a name, and some more. */
const TIMES = 6;

/** By a statement of the service, or those of TypeORM, because a subscriber may change what is written. */
describe.each([
  ['by a statement of the service', []],
  ['by TypeORM', [{ listenTo: () => OrderItem, beforeInsert: () => undefined }]],
])('Rows without an id of their own that are inserted %s', (_how, subscribers) => {
  const api = useTestApi();
  let database: DataSource;
  let user: TestUser;
  let product_id: number;
  let order_id: number;

  beforeAll(async () => {
    database = api.app.nest.get(DataSource);
    database.subscribers.push(...subscribers);
    user = await api.user();
    ({ id: product_id } = await database.getRepository(Product).save({ ...aProduct(), price: 1 }));
  });
  beforeEach(async () => {
    ({ id: order_id } = await database.getRepository(Order).save({ user_id: user.id, total_amount: 1 }));
  });

  const line = (position: number) => ({
    order_id,
    position,
    product_id,
    quantity: position + 1,
    name: `Line "${position}", \\ {NULL}`,
    unit_price: 9_999_999_999.99 - position,
  });
  const stored = () => database.getRepository(OrderItem).find({ where: { order_id }, order: { position: 'ASC' } });
  const shared = <T>(work: (manager: EntityManager) => Promise<T>) =>
    new UnitOfWork().run(() => inOneTransaction(database, (_client, sharing) => sharing(() => work(database.manager))));
  const ways: [string, <T>(work: (manager: EntityManager) => Promise<T>) => Promise<T>][] = [
    ['no transaction', (work) => work(database.manager)],
    ['a transaction', (work) => database.transaction(work)],
    ['a request with a key', shared],
  ];

  it.each(ways.flatMap(([way, run]) => [0, 1, 3, 100].map((count) => [way, count, run] as const)))(
    'are stored and returned in their order: in %s, %i',
    async (_way, count, run) => {
      const lines = times(count, line).reverse();
      const made = await run((manager) => insertRows(manager, OrderItem, lines));

      expect(made).toEqual(lines.map((one) => Object.assign(new OrderItem(), one)));
      expect(await stored()).toEqual(made.toReversed());
    },
  );

  it.each(ways)('are inserted all or none, and change no row: in %s', async (_way, run) => {
    await insertRows(database.manager, OrderItem, [line(2)]);
    const others = times(4, (position) => ({ ...line(position), quantity: 7 }));

    const refused = run((manager) => insertRows(manager, OrderItem, others));

    await expect(refused).rejects.toThrow(QueryFailedError);
    expect(await stored()).toMatchObject([{ position: 2, quantity: 3 }]);
  });
});

describe('Rows that are inserted together', () => {
  const api = useTestApi();

  it('are one statement with one plan, however many they are', async () => {
    const database = api.app.nest.get(DataSource);
    const runner = database.createQueryRunner();
    const isInsert = `statement LIKE 'INSERT INTO "products"%'`;
    try {
      for (let count = 2; count < TIMES + 2; count++) {
        await runner.startTransaction();
        await insertRows(runner.manager, Product, times(count, () => aProduct()) as Partial<Product>[]);
        await runner.commitTransaction();
      }
      const known = await runner.manager.query<{ plans: number }[]>(
        `SELECT (generic_plans + custom_plans)::integer AS plans FROM pg_prepared_statements WHERE ${isInsert}`,
      );
      expect(known).toHaveLength(1);
      expect(known[0].plans).toBeGreaterThan(1);
    } finally {
      await runner.release();
    }
  });
});
