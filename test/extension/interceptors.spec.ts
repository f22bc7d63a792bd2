import { randomUUID } from 'node:crypto';
import {
  BadGatewayException,
  Body,
  type CallHandler,
  Catch,
  type ArgumentsHost,
  Controller,
  type ExceptionFilter,
  type ExecutionContext,
  Get,
  Injectable,
  Module,
  type NestInterceptor,
  Param,
  Post,
  Query,
  RequestTimeoutException,
  type Type,
  UseFilters,
  UseInterceptors,
} from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import type { Response } from 'express';
import { TypeOrmModule } from '@nestjs/typeorm';
import {
  catchError,
  firstValueFrom,
  map,
  Observable,
  of,
  retry,
  Subject,
  tap,
  throwError,
  timeout,
  TimeoutError,
} from 'rxjs';
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
import { type Answer, type TestApi, useTestApi } from '../support/test-api';
import { waitFor } from '../support/wait-for';

const keyed = (key: string = randomUUID()) => ({ 'Idempotency-Key': key });
const isReplayed = ({ headers }: Answer) => headers.get('idempotent-replayed') === 'true';

/** How often each was called, by the name of the product. */
const calls: string[] = [];
const seen: unknown[] = [];

/* Word for word as https://docs.nestjs.com/interceptors shows them. */

@Injectable()
class LoggingInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(tap((value) => seen.push(value)));
  }
}

@Injectable()
class TransformInterceptor<T> implements NestInterceptor<T, { data: T }> {
  intercept(_context: ExecutionContext, next: CallHandler<T>): Observable<{ data: T }> {
    return next.handle().pipe(map((data) => ({ data })));
  }
}

@Injectable()
class ExcludeNullInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(map((value: unknown) => (value === null ? '' : value)));
  }
}

@Injectable()
class ErrorsInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(catchError(() => throwError(() => new BadGatewayException())));
  }
}

@Injectable()
class CacheOverrideInterceptor implements NestInterceptor {
  intercept(): Observable<unknown> {
    return of([]);
  }
}

@Injectable()
class TimeoutInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(
      timeout(2_000),
      catchError((error) =>
        throwError(() => (error instanceof TimeoutError ? new RequestTimeoutException() : (error as Error))),
      ),
    );
  }
}

/* What others are made of. */

@Injectable()
class RetryInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(retry(2));
  }
}

@Injectable()
class RetryBehindInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    let failures = 1;
    const flaky = map((value: unknown) => {
      if (failures-- > 0) throw new Error('behind the handler');
      return value;
    });
    return next.handle().pipe(flaky, retry(2));
  }
}

@Injectable()
class FallbackInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(catchError(() => of({ fallback: true })));
  }
}

@Injectable()
class FailingInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(
      map(() => {
        throw new BadGatewayException();
      }),
    );
  }
}

/** Makes another object of everything, as those do that rename attributes or leave empty ones out. */
@Injectable()
class CopyingInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(map((value: unknown) => JSON.parse(JSON.stringify(value)) as unknown));
  }
}

@Catch()
class OwnFilter implements ExceptionFilter {
  catch(_exception: unknown, host: ArgumentsHost): void {
    host.switchToHttp().getResponse<Response>().status(503).json({ own: true });
  }
}

/** Where a handler that is slow waits, after it has written. */
const slow = new Subject<void>();

/** The routes of a team's resource, in a controller with these interceptors. */
function routesWith(path: string, interceptors: Type<NestInterceptor>[], ofRoute: Type<NestInterceptor>[] = []): Type {
  @Controller(path)
  @Public()
  @UseInterceptors(...interceptors)
  class Things {
    constructor(private readonly products: ProductsService) {}

    @Get()
    @AnswersPage(ProductDto)
    async list(@Query() query: ListProductsQuery): Promise<Page<object>> {
      return (await this.products.list(query)).map(toProductDto);
    }

    @Get(':id')
    @Answers(ProductDto)
    async get(@IdParam() id: number): Promise<ProductDto> {
      return toProductDto(await this.products.get(id));
    }

    @Post()
    @UseInterceptors(...ofRoute)
    @Creates(ProductDto)
    async create(@Body() input: CreateProductDto): Promise<ProductDto> {
      return toProductDto(await this.insert(input));
    }

    @Post('observed')
    @Creates(ProductDto)
    observed(@Body() input: CreateProductDto): Observable<ProductDto> {
      return new Observable((subscriber) => {
        void this.insert(input).then((product) => {
          subscriber.next(toProductDto(product));
          subscriber.complete();
        });
      });
    }

    @Post('slow')
    @Creates(ProductDto)
    async slow(@Body() input: CreateProductDto): Promise<ProductDto> {
      await this.insert(input);
      await firstValueFrom(slow);
      return toProductDto(await this.insert(input));
    }

    @Post('failing')
    @Creates(ProductDto)
    async failing(@Body() input: CreateProductDto): Promise<ProductDto> {
      await this.insert(input);
      throw new Error('after it has written');
    }

    @Post('flaky')
    @Creates(ProductDto)
    async flaky(@Body() input: CreateProductDto): Promise<ProductDto> {
      const product = await this.insert(input);
      if (calls.filter((name) => name === input.name).length < 3) throw new Error('not yet');
      return toProductDto(product);
    }

    @Post('filtered')
    @UseFilters(OwnFilter)
    @Creates(ProductDto)
    async filtered(@Body() input: CreateProductDto): Promise<ProductDto> {
      return toProductDto(await this.insert(input));
    }

    @Post('within/:name')
    @Creates(ProductDto)
    async within(@Param('name') name: string): Promise<ProductDto> {
      return this.create({ name, price: 1 });
    }

    private insert(input: CreateProductDto): Promise<Product> {
      calls.push(input.name);
      return this.products.create(input);
    }
  }
  return Things;
}

const controllers = {
  none: routesWith('none', []),
  logging: routesWith('logging', [LoggingInterceptor]),
  transform: routesWith('transform', [TransformInterceptor]),
  inner: routesWith('inner', [], [TransformInterceptor]),
  several: routesWith(
    'several',
    [LoggingInterceptor, TransformInterceptor, ExcludeNullInterceptor],
    [TransformInterceptor],
  ),
  'exclude-null': routesWith('exclude-null', [ExcludeNullInterceptor]),
  errors: routesWith('errors', [ErrorsInterceptor]),
  override: routesWith('override', [CacheOverrideInterceptor]),
  timeout: routesWith('timeout', [TimeoutInterceptor]),
  retry: routesWith('retry', [RetryInterceptor]),
  'retry-behind': routesWith('retry-behind', [RetryBehindInterceptor]),
  fallback: routesWith('fallback', [FallbackInterceptor]),
  failing: routesWith('failing', [FailingInterceptor]),
  copying: routesWith('copying', [CopyingInterceptor]),
};

@Module({
  imports: [TypeOrmModule.forFeature([Product])],
  controllers: Object.values(controllers),
  providers: [ProductsService],
})
class ThingsModule {}

/** What is the same in every answer to the same request: all but what tells one row and one moment from others. */
function comparable({ status, headers, text }: Answer): object {
  const body = text
    .replace(/"(id|timestamp)":\d+/g, '"$1":0')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'then')
    .replace(/Request [\w-]{36}/, 'Request id');
  const names = ['content-type', 'location', 'link', 'etag', 'cache-control'];
  const kept = names.map((name) => [name, headers.get(name)?.replace(/\/\d+$/, '/id') ?? null]);
  return { status, headers: Object.fromEntries(kept) as object, body };
}

const ROUTES = ['', '/observed', '/failing', '/filtered'];

/** The same POST without a key, with one, and with the same once more. */
async function postThrice(api: TestApi, path: string) {
  const product = aProduct();
  const key = keyed();
  const without = await api.post(path, product);
  const withKey = await api.post(path, product, key);
  const again = await api.post(path, product, key);
  const rows = await api.repository(Product).countBy({ name: product.name });
  return { product, without, withKey, again, rows };
}

describe('Interceptors of a controller', () => {
  const api = useTestApi({ imports: [ThingsModule] });

  it.each(Object.keys(controllers))('make of a POST with a key what they make of it without one: %s', async (name) => {
    for (const route of ROUTES) {
      const { without, withKey, again } = await postThrice(api, `/${name}${route}`);

      expect([route, comparable(withKey)]).toEqual([route, comparable(without)]);
      expect([route, comparable(again)]).toEqual([route, comparable(without)]);
      expect([without, withKey].map(isReplayed)).toEqual([false, false]);
    }
  });

  it.each([
    'none',
    'logging',
    'transform',
    'inner',
    'several',
    'exclude-null',
    'errors',
    'timeout',
    'retry',
    'copying',
  ])('leave a POST with a key its one effect, and its repetition the very same answer: %s', async (name) => {
    for (const route of ['', '/observed']) {
      const { withKey, again, rows } = await postThrice(api, `/${name}${route}`);

      expect([route, again.status, isReplayed(again), again.text]).toEqual([route, 201, true, withKey.text]);
      expect([route, rows]).toEqual([route, 2]);
    }
  });

  it.each(['none', 'failing', 'errors'])(
    'leave nothing of a POST with a key whose answer is an error, so that it may be sent again: %s',
    async (name) => {
      const route = name === 'failing' ? '/filtered' : '/failing';
      const { withKey, again, rows } = await postThrice(api, `/${name}${route}`);

      expect(withKey.status).toBeGreaterThanOrEqual(500);
      expect(isReplayed(again)).toBe(false);
      // That of the request without a key.
      expect(rows).toBe(1);
    },
  );

  it('see what a handler returns, with a key as without one, and at a repetition what was answered', async () => {
    seen.length = 0;
    const { withKey } = await postThrice(api, '/logging');

    const { data } = withKey.body as { data: object };
    expect(seen).toHaveLength(3);
    expect(JSON.parse(JSON.stringify(seen[1]))).toEqual(data);
    expect(seen[2]).toEqual(data);
  });

  it('call a handler again that has failed, and the attempts before leave nothing', async () => {
    const product = aProduct();
    const key = keyed();
    const answers = [await api.post('/retry/flaky', product, key), await api.post('/retry/flaky', product, key)];

    expect(answers.map((answer) => [answer.status, isReplayed(answer)])).toEqual([
      [201, false],
      [201, true],
    ]);
    expect(calls.filter((name) => name === product.name)).toHaveLength(3);
    expect(await api.repository(Product).countBy({ name: product.name })).toBe(1);
  });

  it('call a handler again that has succeeded, and its effect is there once', async () => {
    const product = aProduct();
    const answer = await api.post('/retry-behind', product, keyed());

    expect(answer.status).toBe(201);
    expect(calls.filter((name) => name === product.name)).toHaveLength(2);
    expect(await api.repository(Product).countBy({ name: product.name })).toBe(1);
  });

  it('answer that it took too long, and nothing is left of what the handler has done, or does later', async () => {
    const product = aProduct();
    const key = keyed();
    const answer = await api.post('/timeout/slow', product, key);
    const meanwhile = await api.post('/timeout/slow', product, key);
    slow.next();

    expect([answer.status, meanwhile.status]).toEqual([408, 409]);
    let retried = meanwhile;
    await waitFor(async () => (retried = await api.post('/timeout', product, key)).status !== 409);
    expect([retried.status, isReplayed(retried)]).toEqual([201, false]);
    expect(await api.repository(Product).countBy({ name: product.name })).toBe(1);
  });

  it('are none of the business of a handler that calls another', async () => {
    const { rows } = await postThrice(api, '/none/within/inner-product');
    expect(rows).toBe(0);
    expect(await api.repository(Product).countBy({ name: 'inner-product' })).toBe(2);
  });

  it.each(Object.keys(controllers).filter((name) => !/override|transform|several|failing|retry-behind/.test(name)))(
    'leave a list a list, with its links, and an item an item: %s',
    async (name) => {
      const { body } = await api.post('/products', aProduct(), await asAdmin(api));
      const plain = await api.get('/none?size=1&search=product');
      const list = await api.get(`/${name}?size=1&search=product`);
      const item = await api.get(`/${name}/${body.data.id}`);

      expect(list.body).toEqual({ ...plain.body, timestamp: expect.any(Number) });
      expect(list.headers.get('link')).toBe(plain.headers.get('link')!.replaceAll('/none?', `/${name}?`));
      expect(item.body.data).toEqual(body.data);
      // A copy of everything has lost what it is made of.
      expect(item.headers.get('etag')).toBe(name === 'copying' ? null : '"1"');
      const second = await api.get(`//api/v2/${name}?size=1`);
      const { next } = second.body.pagination;
      expect((await api.get(`//api/v2/${name}?size=1&cursor=${next}`)).body.pagination.previous).toEqual(
        expect.any(String),
      );
    },
  );

  it('put a list into what they put it into', async () => {
    const plain = (await api.get('/none?size=1')).body;
    const { data } = (await api.get('/transform?size=1')).body;

    expect(data).toEqual({ data: { data: plain.data, pagination: plain.pagination } });
  });
});

async function asAdmin(api: TestApi): Promise<Record<string, string>> {
  return { Authorization: `Bearer ${(await api.admin()).token}` };
}

describe.each([TransformInterceptor, CopyingInterceptor])(
  'An interceptor of the whole application (%p)',
  (useClass) => {
    @Module({ imports: [ThingsModule], providers: [{ provide: APP_INTERCEPTOR, useClass }] })
    class TeamModule {}
    const api = useTestApi({
      imports: [TeamModule],
      prepare: (app) => void app.useGlobalInterceptors(new LoggingInterceptor()),
    });

    it('makes of a POST with a key what it makes of it without one', async () => {
      for (const route of ROUTES) {
        const { without, withKey, again } = await postThrice(api, `/none${route}`);

        expect([route, comparable(withKey)]).toEqual([route, comparable(without)]);
        if (without.status === 201) expect([isReplayed(again), again.text]).toEqual([true, withKey.text]);
      }
    });
  },
);
