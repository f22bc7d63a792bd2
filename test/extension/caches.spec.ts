import { randomUUID } from 'node:crypto';
import KeyvRedis from '@keyv/redis';
import { CacheInterceptor, CacheKey, CacheModule, CACHE_MANAGER, CacheTTL } from '@nestjs/cache-manager';
import { Controller, Get, Header, Injectable, Module, Query, type Type, UseInterceptors } from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { Cache } from 'cache-manager';
import Keyv from 'keyv';
import {
  Answers,
  AnswersPage,
  type Caller,
  CurrentUser,
  IdParam,
  type Page,
  Produces,
  Public,
  Role,
  Roles,
} from '../../src/platform';
import { ProducedType } from '../../src/platform/features';
import type { Answer, Client } from '../../src/platform/testing';
import { ListProductsQuery, ProductDto, toProductDto } from '../../src/resources/products/product.dto';
import { Product } from '../../src/resources/products/product.entity';
import { ProductsService } from '../../src/resources/products/products.service';
import { User } from '../../src/resources/users/user.entity';
import { aProduct } from '../support/builders';
import { useTestApi } from '../support/test-api';

/** How often each handler was called. */
const calls: Record<string, number> = {};
const count = (name: string) => (calls[name] = (calls[name] ?? 0) + 1);

@Controller('cached')
@Public()
@UseInterceptors(CacheInterceptor)
class CachedController {
  constructor(private readonly products: ProductsService) {}

  @Get()
  @CacheTTL(60_000)
  @AnswersPage(ProductDto)
  async list(@Query() query: ListProductsQuery): Promise<Page<object>> {
    count('list');
    return (await this.products.list(query)).map(toProductDto);
  }

  @Get('text')
  @Header('Content-Type', 'text/markdown')
  text(): string {
    return `# ${count('text')}`;
  }

  @Get('either')
  @Produces('application/json', 'text/csv')
  either(@ProducedType() type: string): unknown {
    return type === 'text/csv' ? `calls\n${count('either')}` : [count('either')];
  }

  @Get('named')
  @CacheKey('named')
  named(): object {
    return { call: count('named') };
  }

  @Get('mine')
  @Roles(Role.USER)
  mine(@CurrentUser() caller: Caller): object {
    count('mine');
    return { secret_of: caller.id };
  }

  @Get('known')
  known(@CurrentUser() caller?: Caller): object {
    return { caller: caller?.id ?? null };
  }

  @Get('roles')
  @Roles(Role.USER)
  roles(@CurrentUser() caller: Caller): object {
    return { roles: caller.roles };
  }

  @Get(':id')
  @Answers(ProductDto)
  async get(@IdParam() id: number): Promise<ProductDto> {
    count('get');
    return toProductDto(await this.products.get(id));
  }
}

/** As https://docs.nestjs.com/techniques/caching#adjust-tracking shows, for a route with callers of its own. */
@Injectable()
class HttpCacheInterceptor extends CacheInterceptor {
  override trackBy(): string {
    return 'key';
  }
}

@Controller('tracked')
@UseInterceptors(HttpCacheInterceptor)
class TrackedController {
  @Get()
  @Roles(Role.USER)
  mine(@CurrentUser() caller: Caller): object {
    return { secret_of: caller.id };
  }
}

/** Holds what Redis can hold. */
class TextStore extends Map<string, string> {
  override set(key: string, value: string): this {
    if (typeof value !== 'string') throw new TypeError('Redis holds texts');
    return super.set(key, value);
  }
}

const stores: Record<string, Parameters<typeof CacheModule.register>[0]> = {
  'in memory': {},
  'of texts, as Redis is': { stores: [new Keyv({ store: new TextStore() }) as never] },
  // Other tests use the same server.
  ...(process.env.REDIS_URL && {
    'in Redis': { stores: new KeyvRedis(process.env.REDIS_URL), namespace: randomUUID(), ttl: 60_000 },
  }),
};

function moduleWith(options: Parameters<typeof CacheModule.register>[0], isGlobal: boolean): Type {
  @Module({
    imports: [CacheModule.register(options), TypeOrmModule.forFeature([Product])],
    controllers: [CachedController, TrackedController],
    providers: [ProductsService, ...(isGlobal ? [{ provide: APP_INTERCEPTOR, useClass: CacheInterceptor }] : [])],
  })
  class CachingModule {}
  return CachingModule;
}

const varying = ['date', 'x-request-id', 'x-cache'];
const told = ({ status, headers, body }: Answer) => ({
  status,
  headers: Object.fromEntries([...headers].filter(([name]) => !varying.includes(name))),
  body: typeof body === 'object' ? { ...body, timestamp: 0 } : body,
});

describe.each(Object.keys(stores))("Nest's CacheInterceptor with a store %s", (store) => {
  const api = useTestApi({ imports: [moduleWith(stores[store], false)] });
  let id: number;

  beforeAll(async () => {
    const admin = api.as(await api.admin());
    for (let index = 0; index < 3; index++) id = (await admin.post('/products', aProduct())).body.data.id;
  });

  const twice = async (path: string, caller: Client = api, headers?: Record<string, string>) => {
    const answers = [await caller.get(path, headers), await caller.get(path, headers)];
    expect([path, ...answers.map((answer) => answer.headers.get('x-cache'))]).toEqual([path, 'MISS', 'HIT']);
    return answers;
  };

  it.each(['/cached?size=2', '//api/v2/cached?size=2', '/cached?fields=id,name&size=1'])(
    'answers the list %s from its store as from its handler',
    async (path) => {
      const [miss, hit] = await twice(path);

      expect(told(hit)).toEqual(told(miss));
      expect(hit.headers.get('link')).toContain('rel="first"');
      expect(hit.body.data.length).toBeGreaterThan(0);
    },
  );

  it('answers an item from its store as from its handler, with its entity tag', async () => {
    calls.get = 0;
    const [miss, hit] = await twice(`/cached/${id}`);

    expect(told(hit)).toEqual(told(miss));
    expect(hit.headers.get('etag')).toBe('"1"');
    expect((await api.get(`/cached/${id}`, { 'If-None-Match': '"1"' })).status).toBe(304);
    expect(calls.get).toBe(1);
    const [projected] = (await twice(`/cached/${id}?fields=name`)).reverse();
    expect(Object.keys(projected.body.data as object)).toEqual(['name']);
  });

  it('answers a text from its store as from its handler', async () => {
    const [miss, hit] = await twice('/cached/text');

    expect(told(hit)).toEqual(told(miss));
    expect(hit.headers.get('content-type')).toContain('text/markdown');
  });

  it('keeps the versions of the API apart, where Accept names them', async () => {
    const accept = (version: number) => ({ Accept: `application/vnd.api+json;version=${version}` });
    const [first] = await twice('//api/cached?size=1', api, accept(1));
    const [, second] = await twice('//api/cached?size=1', api, accept(2));

    expect(Object.keys(first.body.pagination as object)).toContain('total');
    expect(Object.keys(second.body.pagination as object)).toEqual(['size', 'next', 'previous']);
  });

  it('keeps the media types of a route apart', async () => {
    const [json] = await twice('/cached/either');
    const [, csv] = await twice('/cached/either', api, { Accept: 'text/csv' });

    expect(json.body.data).toEqual([expect.any(Number)]);
    expect(csv.text).toMatch(/^calls\n\d+$/);
    expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8');
  });

  it('gives what one caller was answered to nobody else', async () => {
    const [ada, grace] = [await api.user(), await api.user()];

    for (const path of ['/cached/mine', '/tracked']) {
      for (const one of [ada, grace]) {
        const answers = await twice(path, api.as(one));
        for (const answer of answers) expect(answer.body.data).toEqual({ secret_of: one.id });
      }
      expect((await api.get(path)).status).toBe(401);
    }
    for (const [client, caller] of [
      [api.as(ada), ada.id],
      [api, null],
      [api.as(grace), grace.id],
    ] as const) {
      for (const answer of await twice('/cached/known', client)) expect(answer.body.data).toEqual({ caller });
    }
  });

  it('gives a caller nothing that it was answered with other roles', async () => {
    const grace = await api.admin();
    await twice('/cached/roles', api.as(grace));
    await api.repository(User).update({ id: grace.id }, { roles: [Role.USER] });

    const [{ body }] = await twice('/cached/roles', api.as(grace));
    expect(body.data).toEqual({ roles: [Role.USER] });
  });

  it('takes a key of the team, by which what is kept can be deleted', async () => {
    const [{ body }] = await twice('/cached/named');
    await api.app.nest.get<Cache>(CACHE_MANAGER, { strict: false }).del('named');

    expect((await api.get('/cached/named')).body.data.call).toBe((body.data.call as number) + 1);
  });
});

describe("Nest's CacheInterceptor for the whole application", () => {
  const api = useTestApi({ imports: [moduleWith(stores['of texts, as Redis is'], true)] });

  it('leaves the service what it is', async () => {
    const [ada, grace] = [await api.user(), await api.user()];
    const { id } = (await api.as(ada).post('/posts', { title: 'A', content: 'b', status: 'DRAFT' })).body.data;
    // Without the client of the tests, for which the document knows no X-Cache.
    const get = async (path: string, { token }: { token?: string } = {}): Promise<Answer> => {
      const headers = { ...(token && { Authorization: `Bearer ${token}` }) };
      const response = await fetch(`${api.url}${path}`, { headers });
      const text = await response.text();
      return { status: response.status, headers: response.headers, text, body: JSON.parse(text) };
    };

    const paths = [`posts/${id}`, 'posts', `users/${ada.id}`, 'users/profile'].map((path) => `/api/v1/${path}`);
    for (const path of [...paths, '/.well-known/jwks.json']) {
      const [miss, hit] = [await get(path, ada), await get(path, ada)];
      expect([path, hit.headers.get('x-cache'), told(hit)]).toEqual([path, 'HIT', told(miss)]);
    }
    expect((await get(`/api/v1/posts/${id}`, grace)).status).toBe(404);
    expect((await get(`/api/v1/posts/${id}`)).status).toBe(404);
    expect((await get('/api/v1/posts', grace)).body.data).toEqual([]);
    expect((await get(`/api/v1/users/${ada.id}`, grace)).body.data).not.toHaveProperty('email');
  });
});
