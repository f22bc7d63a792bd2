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
import { Extension, ITEM_TYPE, PAGE_TYPE } from '../http/route-keys';
import { envelopeSchema } from '../docs/schemas';

/**
 * Groups routes in the document.
 * @param description of the group. If several controllers share a group, one of them needs it
 */
export const ApiResource = (name: string, description?: string): ClassDecorator =>
  applyDecorators(ApiTags(name), ...(description ? [ApiExtension(Extension.GROUP, description)] : []));

/** Answers with one resource. A GET also accepts `fields`. */
export const Answers = (dto: DtoClass, status: HttpStatus = HttpStatus.OK): MethodDecorator => answersItem(dto, status);

/** Answers 201 with the created resource and its `Location`. The request may have an `Idempotency-Key`. */
export const Creates = (dto: DtoClass): MethodDecorator =>
  applyDecorators(answersItem(dto, HttpStatus.CREATED), Idempotent());

function answersItem(dto: DtoClass, status: HttpStatus): MethodDecorator {
  return applyDecorators(SetMetadata(ITEM_TYPE, dto), ApiExtension(Extension.ITEM, true), AnswersWhole(dto, status));
}

/** Answers with an object that isn't a resource: a caller always gets all of its attributes. */
export const AnswersWhole = (dto: DtoClass, status: HttpStatus = HttpStatus.OK): MethodDecorator =>
  applyDecorators(
    HttpCode(status),
    ApiExtraModels(dto),
    ApiResponse({
      status,
      description: STATUS_CODES[status],
      schema: envelopeSchema({ $ref: getSchemaPath(dto) }),
    }),
  );

/** Documents another media type of a 200, beside JSON: what `@Produces()` adds. */
export const AlsoAnswers = (mediaType: string, content: object): MethodDecorator =>
  ApiExtension(Extension.ALSO, { [mediaType]: content }) as MethodDecorator;

/** Answers 200 with a page of a collection. */
export const AnswersPage = (dto: DtoClass): MethodDecorator =>
  applyDecorators(
    SetMetadata(PAGE_TYPE, dto),
    ApiExtension(Extension.PAGE, true),
    ApiExtraModels(dto),
    ApiResponse({
      status: HttpStatus.OK,
      description: 'OK',
      schema: envelopeSchema({
        type: 'array',
        maxItems: MAX_SIZE,
        items: { $ref: getSchemaPath(dto) },
      }),
    }),
  );

/** Answers 204 without a body. */
export const AnswersNothing = (): MethodDecorator =>
  applyDecorators(HttpCode(HttpStatus.NO_CONTENT), ApiNoContentResponse({ description: 'No Content' }));

/** Documents headers of every answer of a controller, errors included. */
export const ApiAnswerHeaders = (headers: HeadersObject): ClassDecorator =>
  ApiExtension(Extension.HEADERS, headers) as ClassDecorator;

/** An example body, where an example of all attributes without a default would be too much. */
export const ApiExampleBody = (body: object): MethodDecorator =>
  ApiExtension(Extension.EXAMPLE, body) as MethodDecorator;

/**
 * Documents errors of this route beyond those that follow from its path, body and access. Pass the errors that are
 * thrown, so that the document states the real messages.
 */
export const Raises = (...thrown: Error[]): MethodDecorator =>
  ApiExtension(Extension.RAISES, thrown.map(errorExample)) as MethodDecorator;
