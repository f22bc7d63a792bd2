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
import type { ErrorCode } from '../errors/error-codes';
import type { DtoClass } from '../responses/fields';

/** The DTO of a single resource that a route answers with. */
export const ITEM_TYPE = 'resource-api:item';

/** The extension that carries a route's own errors to the document, which leaves it out. */
export const RAISES = 'x-raises';

/** One group of routes in the documentation. */
export const ApiResource = (name: string): ClassDecorator => applyDecorators(ApiTags(name));

/** Answers with one resource; a GET also takes `fields`. */
export const ApiItem = (dto: DtoClass, status: HttpStatus = HttpStatus.OK): MethodDecorator =>
  applyDecorators(
    SetMetadata(ITEM_TYPE, dto),
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
    ApiExtraModels(dto),
    ApiResponse({
      status: HttpStatus.OK,
      description: 'OK',
      schema: envelopeSchema(HttpStatus.OK, { type: 'array', items: { $ref: getSchemaPath(dto) } }, paginationSchema),
    }),
  );

/** Answers 204 and no body. */
export const ApiNothing = (): MethodDecorator =>
  applyDecorators(HttpCode(HttpStatus.NO_CONTENT), ApiNoContentResponse({ description: 'No Content' }));

/** Errors of this route beyond those that follow from its path, its body and its access. */
export const Raises = (...codes: ErrorCode[]): MethodDecorator => ApiExtension(RAISES, codes) as MethodDecorator;

const paginationSchema = {
  pagination: {
    type: 'object',
    required: ['page', 'size', 'total', 'totalPages'],
    properties: {
      page: {
        type: 'integer',
        format: 'int32',
        minimum: 0,
        description: 'Zero-based number of this page.',
        example: 0,
      },
      size: {
        type: 'integer',
        format: 'int32',
        minimum: 1,
        maximum: 100,
        description: 'Items on a page.',
        example: 20,
      },
      total: { type: 'integer', format: 'int64', minimum: 0, description: 'Items on all pages.', example: 57 },
      totalPages: { type: 'integer', format: 'int32', minimum: 0, description: 'Number of pages.', example: 3 },
    },
  },
};

function envelopeSchema(status: HttpStatus, data: object, more: object = {}) {
  return {
    type: 'object',
    required: ['code', 'message', 'data', 'timestamp', ...Object.keys(more)],
    properties: {
      code: { type: 'integer', format: 'int32', description: 'The HTTP status again.', example: status },
      message: { type: 'string', description: 'The reason phrase of the status.', example: STATUS_CODES[status] },
      data,
      ...more,
      timestamp: {
        type: 'integer',
        format: 'int64',
        description: 'When it was answered, in milliseconds since the epoch.',
        example: 1767225600000,
      },
    },
  };
}
