import { applyDecorators, SetMetadata } from '@nestjs/common';
import { ApiExtension } from '@nestjs/swagger';
import { Extension } from '../http/route-keys';
import { ApiError } from '../errors/api-error';

const BODY_LIMIT = 'resource-api:body-limit';
const BODY_VALUES = 'resource-api:body-values';

export interface BodyLimitOptions {
  /**
   * The number of values in a JSON body, or of fields in a form. Each costs time to validate. Default: 500, for a form
   * 100
   */
  values?: number;
}

/**
 * Limits the body of a route, or of all routes of a controller, before and after decompression, instead of
 * `JSON_BODY_LIMIT`. The limit may be smaller or greater. A larger body is 413.
 * @param bytes e.g. `kibibytes(16)`
 */
export const BodyLimit = (bytes: number, { values }: BodyLimitOptions = {}): ClassDecorator & MethodDecorator =>
  applyDecorators(
    SetMetadata(BODY_LIMIT, bytes),
    SetMetadata(BODY_VALUES, values),
    ApiExtension(Extension.BODY_LIMIT, bytes),
  );

/** The limit of a route, or else of its controller, in bytes. */
export function bodyLimitOf(controller: object, handler: object): number | undefined {
  return ownOf(BODY_LIMIT, controller, handler);
}

/** The number of values that a route, or else its controller, allows. */
export function bodyValuesOf(controller: object, handler: object): number | undefined {
  return ownOf(BODY_VALUES, controller, handler);
}

function ownOf(key: string, controller: object, handler: object): number | undefined {
  return (Reflect.getMetadata(key, handler) ?? Reflect.getMetadata(key, controller)) as number | undefined;
}

/** 413 for a body. @param limit the route's own, in bytes */
export function bodyTooLarge(limit?: number): ApiError {
  const details = limit === undefined ? undefined : `The request body may have ${limit} bytes here`;
  return new ApiError('PAYLOAD_TOO_LARGE', { details });
}
