import {
  Body,
  ClassSerializerInterceptor,
  Controller,
  Get,
  Module,
  Post,
  Query,
  SerializeOptions,
  UseInterceptors,
} from '@nestjs/common';
import { APP_INTERCEPTOR, Reflector } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Exclude, Expose, Transform } from 'class-transformer';
import { Answers, AnswersPage, Creates, IdParam, type Page, Public } from '../../src/platform';
import {
  CreateProductDto,
  ListProductsQuery,
  ProductDto,
  toProductDto,
} from '../../src/resources/products/product.dto';
import { Product } from '../../src/resources/products/product.entity';
import { ProductsService } from '../../src/resources/products/products.service';
import { aProduct } from '../support/builders';
import { useTestApi } from '../support/test-api';

const A_PRODUCT = { name: 'serialized', price: 2 };

/** As https://docs.nestjs.com/techniques/serialization shows it. */
class ShownProduct {
  id: number;

  @Transform(({ value }: { value: string }) => value.toUpperCase())
  name: string;

  @Exclude()
  stock: number;

  @Expose({ groups: ['sellers'] })
  price: number;

  @Expose()
  get label(): string {
    return `${this.name} (${this.id})`;
  }

  constructor(partial: Partial<ShownProduct>) {
    Object.assign(this, partial);
  }
}

@Controller('shown')
@Public()
@UseInterceptors(ClassSerializerInterceptor)
class ShownController {
  constructor(private readonly products: ProductsService) {}

  @Get('plain')
  @SerializeOptions({ type: ShownProduct })
  async plain(@Query() query: ListProductsQuery): Promise<Page<object>> {
    return this.products.list(query);
  }

  @Get('sellers')
  @AnswersPage(ProductDto)
  @SerializeOptions({ type: ShownProduct, groups: ['sellers'] })
  async sellers(@Query() query: ListProductsQuery): Promise<Page<object>> {
    return this.products.list(query);
  }

  @Get('instances')
  @AnswersPage(ProductDto)
  async instances(@Query() query: ListProductsQuery): Promise<Page<object>> {
    return (await this.products.list(query)).map((product) => new ShownProduct(product));
  }

  @Get(':id')
  @Answers(ProductDto)
  @SerializeOptions({ type: ShownProduct })
  async get(@IdParam() id: number): Promise<ProductDto> {
    return toProductDto(await this.products.get(id));
  }

  @Post()
  @Creates(ProductDto)
  @SerializeOptions({ type: ShownProduct })
  async create(@Body() input: CreateProductDto): Promise<ProductDto> {
    const [product] = await this.products.create([input]);
    return toProductDto(product);
  }
}

@Module({
  imports: [TypeOrmModule.forFeature([Product])],
  controllers: [ShownController],
  providers: [ProductsService],
})
class ShownModule {}

@Module({ imports: [ShownModule], providers: [{ provide: APP_INTERCEPTOR, useClass: ClassSerializerInterceptor }] })
class ByProviderModule {}

describe.each(['of a controller', 'of the whole application', 'by useGlobalInterceptors()'])(
  "Nest's ClassSerializerInterceptor %s",
  (where) => {
    const isGlobal = where === 'of the whole application';
    const api = useTestApi({
      imports: [isGlobal ? ByProviderModule : ShownModule],
      prepare: (app) => {
        if (where === 'by useGlobalInterceptors()') {
          app.useGlobalInterceptors(new ClassSerializerInterceptor(app.get(Reflector)));
        }
      },
    });
    let product: { id: number; name: string; price: number };

    beforeAll(async () => {
      const admin = api.as(await api.admin());
      for (let index = 0; index < 3; index++) product = (await admin.post('/products', aProduct())).body.data;
    });

    it.each(['plain', 'instances'])('shows of each item of a list what its class shows: %s', async (route) => {
      const answer = await api.get(`/shown/${route}?size=1&order=desc`);
      const [item] = answer.body.data;

      expect(answer.body.pagination).toEqual({ page: 0, size: 1, total: 3, totalPages: 3 });
      expect(answer.headers.get('link')).toContain('rel="next"');
      expect(item).toMatchObject({ id: product.id, name: product.name.toUpperCase() });
      expect(item.label.toUpperCase()).toBe(`${product.name.toUpperCase()} (${product.id})`);
      expect(['stock', 'price'].filter((name) => name in item)).toEqual([]);
    });

    it('shows what is for a group, and pages by cursor in the second version', async () => {
      const first = await api.get('//api/v2/shown/sellers?size=2');
      const { next } = first.body.pagination;
      const second = await api.get(`//api/v2/shown/sellers?size=2&cursor=${next}`);

      expect([first, second].map(({ body }) => body.data.length)).toEqual([2, 1]);
      expect(first.body.data[0].price).toBe(product.price);
      expect(first.body.data[0]).not.toHaveProperty('stock');
    });

    it('pages by cursor where nothing but its query says that it is a list', async () => {
      const { body } = await api.get('//api/v2/shown/plain?size=2');
      expect(body.pagination).toEqual({ size: 2, next: expect.any(String), previous: null });
    });

    it('leaves an item its entity tag, with which it may be asked for again', async () => {
      const { headers, body } = await api.get(`/shown/${product.id}`);

      expect(body.data.name).toBe(product.name.toUpperCase());
      expect(body.data).not.toHaveProperty('stock');
      expect(headers.get('etag')).toBe('"1"');
      expect((await api.get(`/shown/${product.id}`, { 'If-None-Match': '"1"' })).status).toBe(304);
    });

    it('leaves a POST with a key what it is without one', async () => {
      const key = { 'Idempotency-Key': 'serialized' };
      const [first, again] = [await api.post('/shown', A_PRODUCT, key), await api.post('/shown', A_PRODUCT, key)];

      expect([first.status, again.text]).toEqual([201, first.text]);
      expect(first.headers.get('location')).toBe(`/api/v1/shown/${first.body.data.id}`);
      expect(first.headers.get('etag')).toBe('"1"');
      expect(first.body.data.name).toBe('SERIALIZED');
    });

    it('leaves the resources of the service what they are', async () => {
      const list = await api.get('/products?size=1');
      const item = await api.get(`/products/${product.id}`);

      expect(list.body).toEqual({
        code: 200,
        message: 'OK',
        data: [expect.objectContaining({ stock: 10, created_at: expect.any(String) })],
        pagination: expect.objectContaining({ page: 0, size: 1 }),
        timestamp: expect.any(Number),
      });
      expect(list.headers.get('link')).toContain('rel="last"');
      expect(item.headers.get('etag')).toBe('"1"');
      expect(Object.keys((await api.get('//.well-known/jwks.json')).body as object)).toEqual(['keys']);
    });
  },
);
