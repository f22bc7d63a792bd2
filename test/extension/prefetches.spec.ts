import {
  Controller,
  Get,
  type INestApplication,
  Module,
  Param,
  ParseIntPipe,
  Patch,
  Post,
  type Type,
  UsePipes,
} from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Answers, IdParam, Prefetches, Public, readRow, Role, Roles } from '../../src/platform';
import { createApplication } from '../../src/platform/programs';
import { type Answer, type Client, expectError, query, RowLock, waitFor } from '../../src/platform/testing';
import { ProductDto, toProductDto } from '../../src/resources/products/product.dto';
import { Product } from '../../src/resources/products/product.entity';
import { Fixtures } from '../support/fixtures';
import { databases, testingModule } from '../support/modules/kettles';
import { useTestApi } from '../support/test-api';

/** Nothing a client could notice, but time for others. */
const nothing = () => Promise.resolve();

@Controller('goods')
@Roles(Role.USER)
class GoodsController {
  constructor(private readonly database: DataSource) {}

  @Get(':id')
  @Answers(ProductDto)
  @Prefetches(Product)
  async get(@IdParam() id: number): Promise<ProductDto> {
    return toProductDto(await this.read(id));
  }

  @Get(':id/for-all')
  @Public()
  @Answers(ProductDto)
  @Prefetches(Product)
  async getForAll(@IdParam() id: number): Promise<ProductDto> {
    return toProductDto(await this.read(id));
  }

  @Get(':id/read-by-the-handler')
  @Answers(ProductDto)
  async getByItself(@IdParam() id: number): Promise<ProductDto> {
    return toProductDto(await this.read(id));
  }

  @Get(':id/after-something-else')
  @Answers(ProductDto)
  @Prefetches(Product)
  async getLater(@IdParam() id: number): Promise<ProductDto> {
    await nothing();
    return toProductDto(await this.read(id));
  }

  @Get(':id/twice')
  @Answers(ProductDto)
  @Prefetches(Product)
  async getTwice(@IdParam() id: number): Promise<ProductDto> {
    const [one, other] = await Promise.all([this.read(id), this.read(id)]);
    one.name = 'of the first alone';
    return toProductDto(other);
  }

  @Get(':id/next-to/:other')
  @Answers(ProductDto)
  @Prefetches(Product, 'other')
  async getOther(@IdParam() id: number, @IdParam('other') other: number): Promise<ProductDto> {
    const [first, second] = await Promise.all([this.read(id), this.read(other)]);
    return { ...toProductDto(second), name: `${first.name} and ${second.name}` };
  }

  @Get(':id/in-a-transaction')
  @Answers(ProductDto)
  @Prefetches(Product)
  async getWithin(@IdParam() id: number): Promise<ProductDto> {
    return this.database.transaction(async (manager) => toProductDto(await readRow(manager, Product, id)));
  }

  @Get(':id/through-a-pipe')
  @UsePipes(ParseIntPipe)
  @Prefetches(Product)
  async getPiped(@Param('id') id: number): Promise<object> {
    return { name: (await this.read(id)).name };
  }

  @Get(':id/with-defaults')
  @Prefetches(Product)
  async getShort(@IdParam() id: number, isWhole = false, ...more: string[]): Promise<object> {
    const { name } = await this.read(id);
    return { name, isWhole, more };
  }

  @Get(':id/by-another')
  @Prefetches(Product)
  getByAnother(@IdParam() id: number): Promise<object> {
    return this.getShort(id, true, 'a', 'b');
  }

  protected read(id: number): Promise<Product> {
    return readRow(this.database.manager, Product, id);
  }
}

@Controller('better-goods')
@Roles(Role.USER)
class BetterGoodsController extends GoodsController {
  @Get(':id/by-another')
  override async getByAnother(@IdParam() id: number, isBetter = false): Promise<object> {
    return { name: (await this.read(id)).name, isBetter };
  }

  @Get(':id/with-defaults')
  @Prefetches(Product)
  override async getShort(@IdParam() id: number, isWhole = false): Promise<object> {
    return { name: (await this.read(id)).name, isWhole };
  }
}

@Module({ controllers: [GoodsController, BetterGoodsController] })
class GoodsModule {}

/** Connections that have read rows of products since a moment, and have nothing to do. */
const HAVE_READ = `
  SELECT FROM pg_stat_activity
   WHERE datname = current_database() AND state = 'idle' AND query LIKE '%products%ANY(%' AND query_start > $1`;

describe('The row of a path with @Prefetches()', () => {
  const api = useTestApi({ imports: [GoodsModule] });
  let client: Client;
  let own: Fixtures;

  beforeAll(async () => {
    client = api.as(await api.user());
    own = new Fixtures(api, await api.admin());
    // From the second request on, a token is known to the process.
    await client.get('/users/profile');
  });

  /** The name of a product that is changed while the caller's session can't be read. */
  async function nameRead(path: (id: number) => string, ahead: boolean): Promise<unknown> {
    const { id } = await own.product({ name: 'before' });
    const url = api.app.databaseUrl;
    const [{ now }] = await query(url, 'SELECT clock_timestamp()::text AS now');
    const lock = await RowLock.ofTable(url, 'sessions');
    const answer = client.get(path(id));
    await lock.awaitedBy(1);
    if (ahead) await waitFor(async () => (await query(url, HAVE_READ, [now])).length > 0);
    await query(url, "UPDATE products SET name = 'after' WHERE id = $1", [id]);
    await lock.release();
    return (await answer).body.data.name;
  }

  it('is read while the caller is identified', async () => {
    expect(await nameRead((id) => `/goods/${id}`, true)).toBe('before');
    expect(await nameRead((id) => `/goods/${id}/for-all`, true)).toBe('before');
  });

  it('is read by a handler that begins with something else', async () => {
    expect(await nameRead((id) => `/goods/${id}/after-something-else`, true)).toBe('after');
    expect(await nameRead((id) => `/goods/${id}/in-a-transaction`, true)).toBe('after');
  });

  it('is read after the caller without the decorator', async () => {
    expect(await nameRead((id) => `/goods/${id}/read-by-the-handler`, false)).toBe('after');
  });

  it('is an object of its own for each who reads it', async () => {
    const { id, name } = await own.product();
    expect((await client.get(`/goods/${id}/twice`)).body.data.name).toBe(name);
  });

  it('is that of the parameter that the decorator names', async () => {
    const [one, other] = [await own.product({ name: 'one' }), await own.product({ name: 'other' })];
    const { data } = (await client.get(`/goods/${one.id}/next-to/${other.id}`)).body;
    expect(data).toMatchObject({ id: other.id, name: 'one and other' });
  });

  it('is answered to whom the route says, and otherwise refused as without the decorator', async () => {
    const { id } = await own.product();
    expect((await client.get(`/goods/${id}`)).body.data.id).toBe(id);
    expect((await api.get(`/goods/${id}/for-all`)).body.data.id).toBe(id);
    expectError(await api.get(`/goods/${id}`), 'UNAUTHORIZED');
    for (const path of ['/goods/999999', '/goods/999999/for-all']) expectError(await client.get(path), 'NOT_FOUND');
    for (const wrong of ['x', '0', '1e3']) expectError(await client.get(`/goods/${wrong}`), 'VALIDATION_ERROR');
  });

  it('is given to nobody whose session has ended meanwhile', async () => {
    const { id } = await own.product();
    const gone = await api.user();
    const their = api.as(gone);
    await their.get('/users/profile');
    await query(api.app.databaseUrl, 'DELETE FROM sessions WHERE user_id = $1', [gone.id]);
    expectError(await their.get(`/goods/${id}`), 'UNAUTHORIZED');
  });

  it('is not missed by a test that calls the handler, or by another handler', async () => {
    const { id, name } = await own.product();
    const goods = api.app.nest.get(GoodsController);
    expect((await goods.get(id)).id).toBe(id);
    expect(await goods.getShort(id, true, 'x')).toEqual({ name, isWhole: true, more: ['x'] });
    const { data } = (await client.get(`/goods/${id}/by-another`)).body;
    expect(data).toEqual({ name, isWhole: true, more: ['a', 'b'] });
  });

  it('leaves a handler the arguments, defaults and pipes that it has', async () => {
    const { id, name } = await own.product();
    const dataOf = async (path: string): Promise<unknown> => (await client.get(path)).body.data;
    expect(await dataOf(`/goods/${id}/through-a-pipe`)).toEqual({ name });
    expect(await dataOf(`/goods/${id}/with-defaults`)).toEqual({ name, isWhole: false, more: [] });
    expect(await dataOf(`/better-goods/${id}/by-another`)).toEqual({ name, isBetter: false });
    expect(await dataOf(`/better-goods/${id}/with-defaults`)).toEqual({ name, isWhole: false });
  });

  it('is that of each of many requests at once', async () => {
    const ids: number[] = [];
    for (let number = 0; number < 5; number++) ids.push((await own.product()).id);
    const asked = Array.from({ length: 40 }, (_, place) => ids[place % ids.length]);
    const answers: Answer[] = await Promise.all(asked.map((id) => client.get(`/goods/${id}`)));
    expect(answers.map(({ body }) => body.data.id)).toEqual(asked);
  });
});

describe('@Prefetches() where nothing could be prefetched', () => {
  let app: INestApplication | undefined;

  afterEach(() => app?.close());
  afterAll(() => Promise.all(databases.map((drop) => drop())));

  @Controller('changed')
  @Public()
  class ChangedController {
    @Patch(':id')
    @Prefetches(Product)
    change(@IdParam() id: number): object {
      return { id };
    }
  }

  @Controller('elsewhere')
  @Public()
  class ElsewhereController {
    @Get(':key')
    @Prefetches(Product)
    read(@Param('key') key: string): object {
      return { key };
    }
  }

  @Controller('chosen')
  @Public()
  class ChosenController {
    @Post()
    @Prefetches(Product)
    choose(): object {
      return {};
    }
  }

  it.each<[string, Type, string]>([
    ['a change', ChangedController, 'ChangedController.change'],
    ['a path without the parameter', ElsewhereController, 'ElsewhereController.read'],
    ['a POST of a collection', ChosenController, 'ChosenController.choose'],
  ])('stops the start: %s', async (_name, controller, route) => {
    @Module({ controllers: [controller] })
    class WrongModule {}
    app = await createApplication(await (await testingModule([WrongModule])).compile());
    await expect(app.init()).rejects.toThrow(new RegExp(`@Prefetches\\(\\).+${route}`, 's'));
  });
});
