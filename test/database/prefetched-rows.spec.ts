import { Controller, Get, Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Answers, IdParam, Prefetches, readRow, ResourceEntity, Role, Roles } from '../../src/platform';
import { type Client, countStatuses, expectError, query, RowLock, times, waitFor } from '../../src/platform/testing';
import { addReplica } from '../../src/platform/replica/reading';
import type { Replica } from '../../src/platform/replica/replica';
import { poolOf } from '../../src/platform/transactions/cancellable-pool';
import { ProductDto, toProductDto } from '../../src/resources/products/product.dto';
import { Product } from '../../src/resources/products/product.entity';
import { User } from '../../src/resources/users/user.entity';
import { Fixtures } from '../support/fixtures';
import { useTestApi } from '../support/test-api';

/** Milliseconds in which a statement ends that nobody waits for: less than its own time limit. */
const SOON = 8_000;

/** A row that another database has. */
class Elsewhere extends ResourceEntity {}

@Controller('wares')
@Roles(Role.USER)
class WaresController {
  constructor(private readonly database: DataSource) {}

  @Get(':id/for-administrators')
  @Roles(Role.ADMIN)
  @Answers(ProductDto)
  @Prefetches(Product)
  async get(@IdParam() id: number): Promise<ProductDto> {
    return toProductDto(await readRow(this.database.manager, Product, id));
  }

  @Get(':id/elsewhere')
  @Prefetches(Elsewhere)
  getElsewhere(@IdParam() id: number): object {
    return { id };
  }

  /** A row of another entity has the same id. */
  @Get(':id/beside-a-user')
  @Prefetches(Product)
  async getBeside(@IdParam() id: number): Promise<object> {
    const user = readRow(this.database.manager, User, id);
    const product = readRow(this.database.manager, Product, id);
    return { user: (await user).username, product: (await product).name };
  }
}

@Module({ controllers: [WaresController] })
class WaresModule {}

describe('A prefetched row', () => {
  const api = useTestApi({ imports: [WaresModule] });
  let database: DataSource;
  let user: Client;
  let userId: number;
  let id: number;

  beforeAll(async () => {
    database = api.app.nest.get(DataSource);
    const known = await api.user();
    userId = known.id;
    user = api.as(known);
    id = (await new Fixtures(api, await api.admin()).product({ name: 'of an id' })).id;
    // From the second request on, a token is known to the process.
    await user.get('/users/profile');
  });

  afterEach(() => jest.restoreAllMocks());

  it('keeps no connection for a caller who was refused', async () => {
    const gone = await api.user();
    const ended = api.as(gone);
    await ended.get('/users/profile');
    await query(api.app.databaseUrl, 'DELETE FROM sessions WHERE user_id = $1', [gone.id]);
    const lock = await RowLock.ofTable(api.app.databaseUrl, 'products');

    const refused = await Promise.all([
      ...times(3, () => user.get(`/wares/${id}/for-administrators`)),
      ...times(3, () => ended.get(`/products/${id}`)),
      ...times(3, () => user.get(`/products/${id}?unknown=1`)),
    ]);
    expect(countStatuses(refused)).toEqual({ 400: 3, 401: 3, 403: 3 });
    await waitFor(async () => (await lock.waiting()) > 0);
    await waitFor(async () => (await lock.waiting()) === 0, SOON);
    await lock.release();

    expect((await user.get(`/products/${id}`)).status).toBe(200);
  });

  it('that could not be read is no concern of a caller who was refused', async () => {
    const unhandled = jest.fn();
    process.on('unhandledRejection', unhandled);
    const pool = poolOf(database);
    const read = pool.queryShared.bind(pool);
    jest
      .spyOn(pool, 'queryShared')
      .mockImplementation((statement) =>
        statement.text.includes('"products"') ? Promise.reject(new Error('no connection')) : read(statement),
      );
    expectError(await user.get(`/wares/${id}/for-administrators`), 'FORBIDDEN');
    await waitFor(() => (pool.queryShared as jest.Mock).mock.results.length > 1);
    await new Promise(setImmediate);
    process.off('unhandledRejection', unhandled);
    expect(unhandled).not.toHaveBeenCalled();
  });

  it('is one of the entity that the handler reads', async () => {
    const insert = `INSERT INTO products (id, name, price) OVERRIDING SYSTEM VALUE VALUES ($1, 'of the id of a user', 1)
                    ON CONFLICT (id) DO UPDATE SET name = excluded.name`;
    await query(api.app.databaseUrl, insert, [userId]);
    const { data } = (await user.get(`/wares/${userId}/beside-a-user`)).body;
    expect(data).toEqual({ user: expect.stringMatching(/^user\d+$/) as string, product: 'of the id of a user' });
  });

  it('is not asked for where the database of the service has no such table', async () => {
    const answers = [await user.get(`/wares/${id}/elsewhere`), await user.get(`/wares/${id}/elsewhere`)];
    expect(answers.map(({ body }) => body.data as object)).toEqual([{ id }, { id }]);
  });

  it('is left to the handler where a replica may answer', async () => {
    const spy = jest.spyOn(poolOf(database), 'queryShared');
    const readsOfRefused = async () => {
      spy.mockClear();
      expectError(await user.get(`/wares/${id}/for-administrators`), 'FORBIDDEN');
      return spy.mock.calls.filter(([{ text }]) => text.includes('"products"')).length;
    };
    expect(await readsOfRefused()).toBe(1);
    addReplica(database, { serves: () => false } as unknown as Replica);
    expect(await readsOfRefused()).toBe(0);
  });
});
