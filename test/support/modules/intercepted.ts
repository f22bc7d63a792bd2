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
import { Answers, AnswersPage, Creates, IdParam, type Page, Public } from '../../../src/platform';
import type { Answer } from '../../../src/platform/testing';
import {
  CreateProductDto,
  ListProductsQuery,
  ProductDto,
  toProductDto,
} from '../../../src/resources/products/product.dto';
import { Product, ProductStatus } from '../../../src/resources/products/product.entity';
import { ProductsService } from '../../../src/resources/products/products.service';
import { aProduct } from '../builders';
import { type TestApi } from '../test-api';

export const keyed = (key: string = randomUUID()) => ({ 'Idempotency-Key': key });
export const isReplayed = ({ headers }: Answer) => headers.get('idempotent-replayed') === 'true';

/** How often each was called, by the name of the product. */
export const calls: string[] = [];
export const seen: unknown[] = [];

/* Word for word as https://docs.nestjs.com/interceptors shows them. */

@Injectable()
export class LoggingInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(tap((value) => seen.push(value)));
  }
}

@Injectable()
export class TransformInterceptor<T> implements NestInterceptor<T, { data: T }> {
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
export class CopyingInterceptor implements NestInterceptor {
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
export const slow = new Subject<void>();

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
      return this.create({ name, price: 1, description: null, stock: 0, status: ProductStatus.ACTIVE, image: null });
    }

    private async insert(input: CreateProductDto): Promise<Product> {
      calls.push(input.name);
      const [product] = await this.products.create([input]);
      return product;
    }
  }
  return Things;
}

export const controllers = {
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
export class ThingsModule {}

/** What is the same in every answer to the same request: all but what tells one row and one moment from others. */
export function comparable({ status, headers, text }: Answer): object {
  const body = text
    .replace(/"(id|timestamp)":\d+/g, '"$1":0')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'then')
    .replace(/Request [\w-]{36}/, 'Request id');
  const names = ['content-type', 'location', 'link', 'etag', 'cache-control'];
  const kept = names.map((name) => [name, headers.get(name)?.replace(/\/\d+(?=$|>; rel="self")/, '/id') ?? null]);
  return { status, headers: Object.fromEntries(kept) as object, body };
}

export const ROUTES = ['', '/observed', '/failing', '/filtered'];

/** The same POST without a key, with one, and with the same once more. */
export async function postThrice(api: TestApi, path: string) {
  const product = aProduct();
  const key = keyed();
  const without = await api.post(path, product);
  const withKey = await api.post(path, product, key);
  const again = await api.post(path, product, key);
  const rows = await api.repository(Product).countBy({ name: product.name });
  return { product, without, withKey, again, rows };
}
