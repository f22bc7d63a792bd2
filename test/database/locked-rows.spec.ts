import { DataSource, type EntityManager, In, PessimisticLockTransactionRequiredError } from 'typeorm';
import { lockRows } from '../../src/platform';
import { times } from '../../src/platform/testing';
import { Product } from '../../src/resources/products/product.entity';
import { useTestApi } from '../support/test-api';
import { withKey } from '../support/with-key';

const WORKERS = 12;

/** Each statement of its own, or those of TypeORM, because a subscriber may change what is read. */
describe.each([
  ['by a statement of the service', []],
  ['by TypeORM', [{ listenTo: () => Product, afterLoad: () => undefined }]],
])('Rows that are locked %s', (_how, subscribers) => {
  const api = useTestApi();
  let database: DataSource;
  let ids: number[];

  beforeAll(() => {
    database = api.app.nest.get(DataSource);
    database.subscribers.push(...subscribers);
  });
  beforeEach(async () => {
    const products = database.getRepository(Product);
    const made = times(3, (index) => products.create({ name: `Product ${index}`, price: 1, stock: WORKERS }));
    ids = (await products.save(made)).map(({ id }) => id);
  });

  const ways: [string, <T>(work: (manager: EntityManager) => Promise<T>) => Promise<T>][] = [
    ['a transaction', (work) => database.transaction(work)],
    ['a request with a key', (work) => withKey(database, work)],
  ];

  it.each(ways)('are returned by their ids, hidden ones only where that is asked for: in %s', async (_way, run) => {
    const [first, hidden] = ids;
    await database.getRepository(Product).softDelete(hidden);
    const found = await run((manager) => lockRows(manager, Product, [hidden, first, 2 ** 40]));
    expect([...found.keys()]).toEqual([first]);
    expect(found.get(first)).toBeInstanceOf(Product);
    expect(found.get(first)).toMatchObject({ name: 'Product 0', price: 1, stock: WORKERS, version: 1 });
    const all = await run((manager) => lockRows(manager, Product, [hidden, first], { withDeleted: true }));
    expect([...all.keys()]).toEqual([first, hidden]);
    expect(await run((manager) => lockRows(manager, Product, []))).toEqual(new Map());
  });

  it('are locked in one order, whichever is asked for, and nobody else changes them', async () => {
    const take = async (manager: EntityManager, order: number[]) => {
      const rows = await lockRows(manager, Product, order);
      for (const [id, { stock }] of rows) await manager.update(Product, id, { stock: stock - 1 });
    };
    const orders = times(WORKERS, (index) => (index % 2 ? ids : ids.toReversed()));
    await Promise.all(orders.map((order) => database.transaction((manager) => take(manager, order))));
    const rows = await database.getRepository(Product).findBy({ id: In(ids) });
    expect(rows.map(({ stock }) => stock)).toEqual([0, 0, 0]);
  });

  it('are refused outside of a transaction, where the locks would end at once', async () => {
    await expect(lockRows(database.manager, Product, ids)).rejects.toThrow(PessimisticLockTransactionRequiredError);
  });
});
