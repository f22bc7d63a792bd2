import { applyDecorators, SetMetadata } from '@nestjs/common';
import { ApiExtension } from '@nestjs/swagger';
import { Extension } from '../http/route-keys';
import { ApiError } from '../errors/api-error';

const BODY_LIMIT = 'resource-api:body-limit';
const BODY_VALUES = 'resource-api:body-values';
const KIBIBYTE = 1_024;

export const kibibytes = (count: number): number => count * KIBIBYTE;
export const mebibytes = (count: number): number => count * KIBIBYTE * KIBIBYTE;

export interface BodyLimitOptions {
  /** Values that a JSON body may hold, or fields that a form may have. Each costs time to validate. Default: 500, of a form 100 */
  values?: number;
}

/**
 * The most that the body of a route, or of all routes of a controller, may have, before decompression and after it, instead
 * of `JSON_BODY_LIMIT`: less where bodies are known to be small, more where they are large. More is 413.
 * @param bytes e.g. `kibibytes(16)`
 */
export const BodyLimit = (bytes: number, { values }: BodyLimitOptions = {}): ClassDecorator & MethodDecorator =>
  applyDecorators(
    SetMetadata(BODY_LIMIT, bytes),
    SetMetadata(BODY_VALUES, values),
    ApiExtension(Extension.BODY_LIMIT, bytes),
  );

/** What a route says, or else its controller: bytes. */
export function bodyLimitOf(controller: object, handler: object): number | undefined {
  return ownOf(BODY_LIMIT, controller, handler);
}

/** What a route says, or else its controller: values. */
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
