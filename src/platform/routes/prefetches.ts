import { IncomingMessage } from 'node:http';
import { Req, SetMetadata } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants';
import type { Request } from 'express';
import type { EntityTarget } from 'typeorm';
import { PREFETCHES, type Wanted } from '../auth/prefetch';
import { type AnyHandler, wrapped } from '../http/wrapped-handler';
import { handOver } from '../rows/prefetched';
import type { ResourceEntity } from '../rows/resource.entity';

/** The place of the request among the arguments. It is behind all others, also those of a handler that overrides this one. */
const PLACE = 32;

/**
 * Reads the row of a path while the caller's session is read, so that a caller with a token waits once instead of twice.
 * The handler gets the row by `readRow()` before its first `await`, as it was before guards and interceptors of the route
 * ran. The row may be older than the session: leave it out where a row is cleaned of something before more callers may read
 * it. Only for GET.
 * @param entity the entity of the row
 * @param name the path parameter that has the id. Default: id
 */
export const Prefetches =
  (entity: EntityTarget<ResourceEntity>, name = 'id'): MethodDecorator =>
  (target, key, descriptor) => {
    const inner = descriptor.value as AnyHandler;
    const places = placesOf(target.constructor, key);
    SetMetadata<string, Wanted>(PREFETCHES, { entity, name })(target, key, descriptor);
    // Nest's own decorator, because Nest runs no pipes on its value.
    Req()(target, key, PLACE);
    descriptor.value = wrapped(inner, key, (handler, values) => {
      const request = values[PLACE] as Request | undefined;
      // Called by a test, or by another handler.
      if (!(request instanceof IncomingMessage)) return handler(values);
      return handOver(request.prefetched, () => handler(values.slice(0, places)));
    }) as typeof descriptor.value;
  };

/** The number of arguments that Nest gives a handler, whose parameters were decorated before. */
function placesOf(controller: object, key: string | symbol): number {
  const decorated = (Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, key) ?? {}) as Record<
    string,
    { index: number }
  >;
  const indexes = Object.values(decorated).map(({ index }) => index);
  return Math.max(0, ...indexes.filter((index) => index !== PLACE).map((index) => index + 1));
}
