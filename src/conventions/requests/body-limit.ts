import { applyDecorators, SetMetadata } from '@nestjs/common';
import { ApiExtension } from '@nestjs/swagger';
import { Extension } from '../docs/api.decorators';
import { ApiError } from '../errors/api-error';

const BODY_LIMIT = 'resource-api:body-limit';
const KIBIBYTE = 1_024;

export const kibibytes = (count: number): number => count * KIBIBYTE;

/**
 * The most that the body of a route, or of all routes of a controller, may have, before decompression and after it: for
 * bodies that are known to be small. More is 413. `JSON_BODY_LIMIT` holds beside it.
 * @param bytes e.g. `kibibytes(16)`
 */
export const BodyLimit = (bytes: number): ClassDecorator & MethodDecorator =>
  applyDecorators(SetMetadata(BODY_LIMIT, bytes), ApiExtension(Extension.BODY_LIMIT, bytes));

/** What a route says, or else its controller. */
export function bodyLimitOf(controller: object, handler: object): number | undefined {
  return (Reflect.getMetadata(BODY_LIMIT, handler) ?? Reflect.getMetadata(BODY_LIMIT, controller)) as
    number | undefined;
}

/** 413 for a body. @param limit the route's own, in bytes */
export function bodyTooLarge(limit?: number): ApiError {
  const details = limit === undefined ? undefined : `The request body may have ${limit} bytes here`;
  return new ApiError('PAYLOAD_TOO_LARGE', { details });
}
