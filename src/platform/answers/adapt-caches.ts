import { createRequire } from 'node:module';
import type { CallHandler, ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { Page } from './page';
import { VERSIONS } from '../http/api-version';
import { VERSION, type Versioned, VIEW } from '../http/entity-tag';
import { Verbatim } from './envelope';
import { isLarge } from './large-page';

/** The package of Nest's CacheInterceptor. The service itself doesn't depend on it. */
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
 * Makes Nest's CacheInterceptor keep what an answer is made of, so that a hit equals the miss: a list with its links,
 * an item with its entity tag. Each caller gets a cache key of its own, as long as its roles stay the same: the
 * interceptor's key, the URL, is the same for all callers.
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
    // A large page may be shortened while it is sent, so it is read anew each time, as a whole list is.
    if (value instanceof Page && (value.rest || isLarge(value as Page<object>))) return;
    await cache.set(key, pack(value), ...ttl);
  };
}

/** Anonymous requests for the first version keep the interceptor's key, so that it can be deleted by that name. */
function keyFor(context: ExecutionContext, key: string | undefined): string | undefined {
  if (!key) return key;
  const { user, version = FIRST, produces } = context.switchToHttp().getRequest<Request>();
  // What a caller gets may depend on its roles, which change, and which a strategy may narrow.
  const caller = user && ['user', user.id, user.roles].join(' ');
  const parts = [key, version !== FIRST && `v${version}`, produces, caller];
  return parts.filter(Boolean).join(' ');
}

/** The cached form of an answer, which JSON can represent. */
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
