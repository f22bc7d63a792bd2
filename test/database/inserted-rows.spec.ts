import { DataSource, type EntityManager, QueryFailedError } from 'typeorm';
import { insertRows, UnitOfWork } from '../../src/platform';
import { times } from '../../src/platform/testing';
import { Order, OrderItem } from '../../src/resources/orders/order.entity';
import { Product } from '../../src/resources/products/product.entity';
import { aProduct } from '../support/builders';
import { type TestUser, useTestApi } from '../support/test-api';
import { withKey } from '../support/with-key';

/** A writer whom the database doesn't know. */
const NOBODY = { id: 2 ** 40, roles: ['USER'] };

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
  const ways: [string, <T>(work: (manager: EntityManager) => Promise<T>) => Promise<T>][] = [
    ['no transaction', (work) => work(database.manager)],
    ['a transaction', (work) => database.transaction(work)],
    ['a request with a key', (work) => withKey(database, work)],
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

  it.each(ways.slice(0, 2).flatMap(([way, run]) => [1, 2].map((count) => [way, count, run] as const)))(
    'are refused to a writer who has lost its session: in %s, %i',
    async (_way, count, run) => {
      const writer = new UnitOfWork(undefined, { id: 'r', ip: '192.0.2.1', user: NOBODY });
      const insert = () => run((manager) => insertRows(manager, OrderItem, times(count, line)));

      await expect(writer.run(insert)).rejects.toMatchObject({ driverError: { code: 'WR401' } });
      expect(await stored()).toEqual([]);
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
