import { applyDecorators, HttpCode, HttpStatus, SetMetadata } from '@nestjs/common';
import {
  ApiExtension,
  ApiExtraModels,
  ApiNoContentResponse,
  ApiResponse,
  ApiTags,
  getSchemaPath,
} from '@nestjs/swagger';
import { STATUS_CODES } from 'node:http';
import { Idempotent } from '../idempotency/idempotency.interceptor';
import { MAX_SIZE } from '../lists/list-query';
import type { DtoClass } from '../responses/fields';
import { errorExample } from './error-examples';
import type { HeadersObject } from './openapi-types';
import { DEPRECATION } from '../responses/deprecated';
import { envelopeSchema } from './schemas';

/** The DTO of a single resource that a route answers with. */
export const ITEM_TYPE = 'resource-api:item';
/** That a route answers with a page. */
export const IS_PAGE = 'resource-api:page';

/** Extensions that carry what these decorators know to the document, which then leaves them out. */
export const Extension = {
  ITEM: 'x-item',
  PAGE: 'x-page',
  RAISES: 'x-raises',
  HEADERS: 'x-headers',
  /** Of a parameter: the page is to send its example. */
  FILLED: 'x-filled',
  EXAMPLE: 'x-example',
  GROUP: 'x-group',
  /** The most that a body may have, in bytes. */
  BODY_LIMIT: 'x-body-limit',
  DEPRECATION,
} as const;

/**
 * One group of routes in the documentation.
 * @param description of the group; once is enough where several controllers share it
 */
export const ApiResource = (name: string, description?: string): ClassDecorator =>
  applyDecorators(ApiTags(name), ...(description ? [ApiExtension(Extension.GROUP, description)] : []));

/** Answers with one resource; a GET also takes `fields`, and what creates one (201) takes an `Idempotency-Key`. */
export const ApiItem = (dto: DtoClass, status: HttpStatus = HttpStatus.OK): MethodDecorator =>
  applyDecorators(
    SetMetadata(ITEM_TYPE, dto),
    ApiExtension(Extension.ITEM, true),
    ApiAnswer(dto, status),
    ...(status === HttpStatus.CREATED ? [Idempotent()] : []),
  );

/** Answers with one object that is no resource: it comes whole. */
export const ApiAnswer = (dto: DtoClass, status: HttpStatus = HttpStatus.OK): MethodDecorator =>
  applyDecorators(
    HttpCode(status),
    ApiExtraModels(dto),
    ApiResponse({
      status,
      description: STATUS_CODES[status],
      schema: envelopeSchema(status, { $ref: getSchemaPath(dto) }),
    }),
  );

/** Answers with a page of a collection. */
export const ApiPage = (dto: DtoClass): MethodDecorator =>
  applyDecorators(
    SetMetadata(IS_PAGE, true),
    ApiExtension(Extension.PAGE, true),
    ApiExtraModels(dto),
    ApiResponse({
      status: HttpStatus.OK,
      description: 'OK',
      schema: envelopeSchema(HttpStatus.OK, {
        type: 'array',
        maxItems: MAX_SIZE,
        items: { $ref: getSchemaPath(dto) },
      }),
    }),
  );

/** Answers 204 and no body. */
export const ApiNothing = (): MethodDecorator =>
  applyDecorators(HttpCode(HttpStatus.NO_CONTENT), ApiNoContentResponse({ description: 'No Content' }));

/** Headers of every answer that the routes of a controller give, be it an error. */
export const TellsAlways = (headers: HeadersObject): ClassDecorator =>
  ApiExtension(Extension.HEADERS, headers) as ClassDecorator;

/** A body to try the route with, where all attributes that have an example and no default would be too much. */
export const ExampleBody = (body: object): MethodDecorator => ApiExtension(Extension.EXAMPLE, body) as MethodDecorator;

/**
 * Errors of this route beyond those that follow from its path, its body and its access: as they are thrown, so that the
 * documentation says what the service says.
 */
export const Raises = (...thrown: Error[]): MethodDecorator =>
  ApiExtension(Extension.RAISES, thrown.map(errorExample)) as MethodDecorator;
