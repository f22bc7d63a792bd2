import { setImmediate as turn } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { readRow } from '../../src/platform';
import { RowLock, times } from '../../src/platform/testing';
import { poolOf } from '../../src/platform/transactions/cancellable-pool';
import { Product } from '../../src/resources/products/product.entity';
import { Fixtures } from '../support/fixtures';
import { useTestApi } from '../support/test-api';

const READS = 60;

describe('Reads of rows that come one after the other', () => {
  const api = useTestApi();
  let database: DataSource;
  let ids: number[];

  beforeAll(async () => {
    database = api.app.nest.get(DataSource);
    const own = new Fixtures(api, await api.admin());
    ids = [];
    for (let number = 0; number < READS; number++) ids.push((await own.product()).id);
  });

  afterEach(() => jest.restoreAllMocks());

  const read = (id: number) => readRow(database.manager, Product, id);

  it('share the statement after the one that runs', async () => {
    const statements = jest.spyOn(poolOf(database), 'queryShared');
    const reads: Promise<Product>[] = [];
    for (const id of ids) {
      reads.push(read(id));
      await turn();
    }
    expect((await Promise.all(reads)).map(({ id }) => id)).toEqual(ids);
    // Each turn had a statement of its own before, and a batch takes two turns at least.
    expect(statements.mock.calls.length).toBeLessThanOrEqual(READS / 2 + 1);
  });

  it('wait for a moment only for one that is held up', async () => {
    const lock = await RowLock.ofTable(api.app.databaseUrl, 'products');
    const held = read(ids[0]);
    await lock.awaitedBy(1);
    const next = read(ids[1]);
    await lock.awaitedBy(2);
    const others = ids.slice(2, 5).map(read);
    await lock.awaitedBy(3);
    await lock.release();
    const found = await Promise.all([held, next, ...others]);
    expect(found.map(({ id }) => id)).toEqual(ids.slice(0, 5));
  });

  it('go on after one that has failed', async () => {
    jest.spyOn(poolOf(database), 'queryShared').mockRejectedValueOnce(new Error('no connection'));
    const failed = read(ids[0]);
    await expect(failed).rejects.toThrow('no connection');
    expect((await read(ids[1])).id).toBe(ids[1]);
  });

  it('are as many as asked for, also beyond one statement', async () => {
    const asked = times(250, (place) => ids[place % ids.length]);
    const found = await Promise.all(asked.map(read));
    expect(found.map(({ id }) => id)).toEqual(asked);
  });
});
