import { STATUS_CODES } from 'node:http';
import type { HttpStatus } from '@nestjs/common';
import { ERRORS } from '../errors/error-codes';
import type { SchemaObject } from './openapi-types';

type Properties = NonNullable<SchemaObject['properties']>;

/** The schema of the success envelope around `data`. */
export function envelopeSchema(status: HttpStatus, data: Properties[string], more: Properties = {}): SchemaObject {
  const properties: Properties = {
    code: { type: 'integer', format: 'int32', description: 'The HTTP status again.', example: status },
    message: { type: 'string', description: 'The reason phrase of the status.', example: STATUS_CODES[status] },
    data,
    ...more,
    timestamp: {
      type: 'integer',
      format: 'int64',
      description: 'When it was answered, in milliseconds since 1970.',
      example: 1767225600000,
    },
  };
  return { type: 'object', required: Object.keys(properties), properties };
}

const pagination: Properties = {
  page: { type: 'integer', format: 'int32', minimum: 0, description: 'Zero-based number of this page.', example: 0 },
  size: {
    type: 'integer',
    format: 'int32',
    minimum: 1,
    maximum: 100,
    description: 'Items on a full page.',
    example: 20,
  },
  total: { type: 'integer', format: 'int64', minimum: 0, description: 'Items on all pages.', example: 57 },
  totalPages: { type: 'integer', format: 'int32', minimum: 0, description: 'Number of pages.', example: 3 },
};

/** What stands beside `data` when it is a page. */
export const PAGINATION: Properties = {
  pagination: { type: 'object', required: Object.keys(pagination), properties: pagination },
};

const violation: Properties = {
  field: { type: 'string', description: 'Path of the field.', example: 'username' },
  rule: { type: 'string', description: 'Name of the rule, for a program.', example: 'length' },
  message: {
    type: 'string',
    description: 'What the rule asks for, for a person.',
    example: 'must be 3 to 20 characters',
  },
};

const codes = Object.entries(ERRORS).map(([code, { status, message }]) => `- \`${code}\` (${status}): ${message}`);

const error: Properties = {
  code: {
    type: 'string',
    enum: Object.keys(ERRORS),
    description: `What happened, for a program:\n\n${codes.join('\n')}`,
    example: 'VALIDATION_ERROR',
  },
  message: { type: 'string', description: 'What happened, for a person.', example: 'Request validation failed' },
  details: {
    type: 'string',
    description: 'More about it, for a person; of a 5xx the request id alone.',
    example: 'username: must be 3 to 20 characters',
  },
  timestamp: {
    type: 'string',
    format: 'date-time',
    description: 'When it was answered.',
    example: '2026-01-31T12:00:00.000Z',
  },
  fields: {
    type: 'array',
    description: 'Only with `VALIDATION_ERROR`: one entry for each rule that is broken.',
    items: { type: 'object', required: Object.keys(violation), properties: violation },
  },
};

/** The schema of the error envelope. */
export const ERROR_SCHEMA: SchemaObject = {
  type: 'object',
  required: ['error'],
  properties: {
    error: { type: 'object', required: ['code', 'message', 'details', 'timestamp'], properties: error },
  },
};
