import { createParamDecorator, type ExecutionContext, SetMetadata } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants';
import type { Request } from 'express';
import type { EntityTarget } from 'typeorm';
import { PREFETCHES, type Wanted } from '../auth/prefetch';
import { type AnyHandler, wrapped } from '../http/wrapped-handler';
import { handOver } from '../rows/prefetched';
import type { ResourceEntity } from '../rows/resource.entity';

const ThisRequest = createParamDecorator((_data: unknown, context: ExecutionContext) =>
  context.switchToHttp().getRequest<Request>(),
);

/**
 * Reads the row of a path while the caller's session is read, so that a caller with a token waits once instead of twice.
 * The handler gets the row by `readRow()` before its first `await`, as it was before guards and interceptors of the route
 * ran. Only for GET.
 * @param entity the entity of the row
 * @param name the path parameter that has the id. Default: id
 */
export const Prefetches =
  (entity: EntityTarget<ResourceEntity>, name = 'id'): MethodDecorator =>
  (target, key, descriptor) => {
    const inner = descriptor.value as AnyHandler;
    const place = placeAfter(target.constructor, key, inner);
    SetMetadata<string, Wanted>(PREFETCHES, { entity, name })(target, key, descriptor);
    ThisRequest()(target, key, place);
    descriptor.value = wrapped(inner, key, (handler, values) => {
      const request = values[place] as Request | undefined;
      return handOver(request?.prefetched, () => handler(values.slice(0, place)));
    }) as typeof descriptor.value;
  };

/** The place of one more argument. Parameters were decorated before, and another decorator may have wrapped the handler. */
function placeAfter(controller: object, key: string | symbol, { length }: AnyHandler): number {
  const decorated = (Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, key) ?? {}) as Record<
    string,
    { index: number }
  >;
  return Math.max(length, ...Object.values(decorated).map(({ index }) => index + 1));
}
