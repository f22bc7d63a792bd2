import { createRequire } from 'node:module';
import type { CallHandler, ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { Page } from './page';
import { VERSIONS } from '../http/api-version';
import { VERSION, type Versioned, VIEW } from '../http/entity-tag';
import { Verbatim } from './envelope';
import { isLarge } from './large-page';

/** The package of Nest's CacheInterceptor, which the service itself doesn't need. */
const PACKAGE = '@nestjs/cache-manager';
const [FIRST] = VERSIONS;
const ADAPTED = Symbol('adapted');

interface Cache {
  get(key: string): Promise<unknown>;
  set(key: string, value: unknown, ttl?: number): Promise<unknown>;
}
interface Interceptor {
  cacheManager: Cache;
  trackBy(context: ExecutionContext): string | undefined | Promise<string | undefined>;
  intercept: ((this: Interceptor, context: ExecutionContext, next: CallHandler) => unknown) & { [ADAPTED]?: true };
}

/**
 * Has Nest's CacheInterceptor keep what an answer is made of, so that a HIT is what the MISS was: the list with its links,
 * the item with its entity tag. And for each caller by itself: its own key, the URL, is the same for all of them.
 */
export function adaptCaches(): void {
  const prototype = cacheInterceptor();
  if (!prototype || prototype.intercept[ADAPTED]) return;
  const { intercept } = prototype;
  const adapted = function (this: Interceptor, context: ExecutionContext, next: CallHandler): unknown {
    return intercept.call(context.getType() === 'http' ? forAnswers(this) : this, context, next);
  };
  prototype.intercept = Object.assign(adapted, { [ADAPTED]: true as const });
}

function cacheInterceptor(): Interceptor | undefined {
  try {
    const { CacheInterceptor } = createRequire(__filename)(PACKAGE) as { CacheInterceptor: { prototype: Interceptor } };
    return CacheInterceptor.prototype;
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === 'MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}

const known = new WeakMap<Interceptor, Interceptor>();

function forAnswers(interceptor: Interceptor): Interceptor {
  let adapted = known.get(interceptor);
  if (!adapted) {
    const { cacheManager } = interceptor;
    adapted = Object.assign(Object.create(interceptor) as Interceptor, {
      cacheManager: { get: async (key: string) => unpack(await cacheManager.get(key)), set: setter(cacheManager) },
      trackBy: async (context: ExecutionContext) => keyFor(context, await interceptor.trackBy(context)),
    });
    known.set(interceptor, adapted);
  }
  return adapted;
}

function setter(cache: Cache): Cache['set'] {
  return async (key, value, ...ttl) => {
    // One that may have to be shortened when it leaves is made of what is read each time.
    if (value instanceof Page && isLarge(value as Page<object>)) return;
    await cache.set(key, pack(value), ...ttl);
  };
}

/** Who asks without a token for the first version has the key as it is, which may be deleted by that name. */
function keyFor(context: ExecutionContext, key: string | undefined): string | undefined {
  if (!key) return key;
  const { user, version = FIRST, produces } = context.switchToHttp().getRequest<Request>();
  const parts = [key, version !== FIRST && `v${version}`, produces, user && `user ${user.id}`];
  return parts.filter(Boolean).join(' ');
}

/** What is kept, in a form that JSON has. */
type Packed =
  | { resourceApi: 'page'; data: object[]; pagination: Page<object>['pagination'] }
  | { resourceApi: 'item'; item: object; version: number; view?: string }
  | { resourceApi: 'verbatim'; body: object };

function pack(value: unknown): unknown {
  if (value instanceof Page) {
    const { data, pagination } = value as Page<object>;
    return { resourceApi: 'page', data, pagination } satisfies Packed;
  }
  if (value instanceof Verbatim) return { resourceApi: 'verbatim', body: value.body } satisfies Packed;
  const { [VERSION]: version, [VIEW]: view } = (value ?? {}) as Versioned;
  return version === undefined
    ? value
    : ({ resourceApi: 'item', item: value as object, version, view } satisfies Packed);
}

function unpack(value: unknown): unknown {
  const packed = (value ?? {}) as Packed;
  switch (packed.resourceApi) {
    case 'page':
      return new Page(packed.data, packed.pagination);
    case 'item':
      return Object.assign({}, packed.item, { [VERSION]: packed.version, [VIEW]: packed.view });
    case 'verbatim':
      return new Verbatim(packed.body);
    default:
      return value;
  }
}
