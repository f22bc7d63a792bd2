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
import { Idempotent } from '../idempotency/idempotent';
import { MAX_SIZE } from '../lists/list-query';
import type { DtoClass } from '../input/fields';
import { errorExample } from '../docs/error-examples';
import type { HeadersObject } from '../docs/openapi-types';
import { Extension, IS_PAGE, ITEM_TYPE } from '../http/route-keys';
import { envelopeSchema } from '../docs/schemas';

/**
 * One group of routes in the documentation.
 * @param description of the group; once is enough where several controllers share it
 */
export const ApiResource = (name: string, description?: string): ClassDecorator =>
  applyDecorators(ApiTags(name), ...(description ? [ApiExtension(Extension.GROUP, description)] : []));

/** Answers 200 with one resource. A GET also takes `fields`. */
export const Answers = (dto: DtoClass): MethodDecorator => answersItem(dto, HttpStatus.OK);

/** Answers 201 with the resource that was created, and its `Location`. The request may bring an `Idempotency-Key`. */
export const Creates = (dto: DtoClass): MethodDecorator =>
  applyDecorators(answersItem(dto, HttpStatus.CREATED), Idempotent());

function answersItem(dto: DtoClass, status: HttpStatus): MethodDecorator {
  return applyDecorators(SetMetadata(ITEM_TYPE, dto), ApiExtension(Extension.ITEM, true), AnswersWhole(dto, status));
}

/** Answers with one object that is no resource: a caller gets all of its attributes. */
export const AnswersWhole = (dto: DtoClass, status: HttpStatus = HttpStatus.OK): MethodDecorator =>
  applyDecorators(
    HttpCode(status),
    ApiExtraModels(dto),
    ApiResponse({
      status,
      description: STATUS_CODES[status],
      schema: envelopeSchema(status, { $ref: getSchemaPath(dto) }),
    }),
  );

/** Answers 200 with a page of a collection. */
export const AnswersPage = (dto: DtoClass): MethodDecorator =>
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

/** Answers 204 without a body. */
export const AnswersNothing = (): MethodDecorator =>
  applyDecorators(HttpCode(HttpStatus.NO_CONTENT), ApiNoContentResponse({ description: 'No Content' }));

/** Documents headers that every answer of a controller has, errors included. */
export const ApiAnswerHeaders = (headers: HeadersObject): ClassDecorator =>
  ApiExtension(Extension.HEADERS, headers) as ClassDecorator;

/** A body to try the route with, where all attributes that have an example and no default would be too much. */
export const ApiExampleBody = (body: object): MethodDecorator =>
  ApiExtension(Extension.EXAMPLE, body) as MethodDecorator;

/**
 * Errors of this route beyond those that follow from its path, its body and its access: as they are thrown, so that the
 * documentation says what the service says.
 */
export const Raises = (...thrown: Error[]): MethodDecorator =>
  ApiExtension(Extension.RAISES, thrown.map(errorExample)) as MethodDecorator;
