import { STATUS_CODES } from 'node:http';
import type { HttpStatus } from '@nestjs/common';
import { MAX_ID } from '../rows/resource.entity';
import { CURSOR_PATTERN, MAX_CURSOR } from '../lists/cursor';
import { MAX_SIZE } from '../lists/list-query';
import { MAX_NAME, MAX_VIOLATIONS } from '../errors/api-error';
import { type ErrorKind, kindOf, knownCodes } from '../errors/error-codes';
import type { ErrorExample } from './error-examples';
import { textPattern } from '../text/text';
import type { Version } from '../http/api-version';
import type { SchemaObject } from './openapi-types';

/** The last time of JavaScript's Date, in milliseconds since 1970. */
const LAST_MOMENT = 8.64e15;

/** A sentence of the service, which contains no text of a caller. */
const SENTENCE = { type: 'string', maxLength: 500, pattern: textPattern({ min: 1, multiline: false, secret: false }) };

type Properties = NonNullable<SchemaObject['properties']>;

/** The schema of the success envelope around `data`. */
export function envelopeSchema(status: HttpStatus, data: Properties[string], more: Properties = {}): SchemaObject {
  const properties: Properties = {
    code: {
      type: 'integer',
      format: 'int32',
      minimum: status,
      maximum: status,
      description: 'The HTTP status again.',
      example: status,
    },
    message: {
      type: 'string',
      enum: [STATUS_CODES[status]],
      description: 'The reason phrase of the status.',
      example: STATUS_CODES[status],
    },
    data,
    ...more,
    timestamp: {
      type: 'integer',
      format: 'int64',
      minimum: 0,
      maximum: LAST_MOMENT,
      description: 'The time of the answer, in milliseconds since 1970.',
      example: 1767225600000,
    },
  };
  return { type: 'object', required: Object.keys(properties), properties };
}

const pagination: Properties = {
  page: {
    type: 'integer',
    format: 'int32',
    minimum: 0,
    maximum: 2 ** 31 - 1,
    description: 'Zero-based number of this page.',
    example: 0,
  },
  size: {
    type: 'integer',
    format: 'int32',
    minimum: 1,
    maximum: MAX_SIZE,
    description: 'Items on a full page.',
    example: 20,
  },
  total: {
    type: 'integer',
    format: 'int64',
    minimum: 0,
    maximum: MAX_ID,
    description: 'Items on all pages.',
    example: 57,
  },
  totalPages: {
    type: 'integer',
    format: 'int64',
    minimum: 0,
    maximum: MAX_ID,
    description: 'Number of pages.',
    example: 3,
  },
};

const cursor = (description: string): Properties[string] => ({
  type: 'string',
  maxLength: MAX_CURSOR,
  pattern: CURSOR_PATTERN,
  nullable: true,
  description,
  example: 'q1x0Z3Jm0uVhC2hXl4mWzVszLDMsZmFsc2Vd',
});

const cursorPagination: Properties = {
  size: pagination.size,
  next: cursor('Leads to the items after these; null when there are none.'),
  previous: cursor('Leads to the items before these; null when there are none.'),
};
const counted: Properties = { total: { ...pagination.total, description: 'With `total=true`: items on all pages.' } };

/** The schema of `pagination` in each version. */
export const PAGINATION: Record<Version, SchemaObject> = {
  1: { type: 'object', required: Object.keys(pagination), properties: pagination },
  2: { type: 'object', required: Object.keys(cursorPagination), properties: { ...cursorPagination, ...counted } },
};

const violation: Properties = {
  field: {
    type: 'string',
    maxLength: MAX_NAME + 1,
    description: 'The path of the field. A long path is cut.',
    example: 'username',
  },
  rule: {
    type: 'string',
    maxLength: 32,
    pattern: '^[A-Za-z_]+$',
    description: 'The name of the rule, for programs.',
    example: 'length',
  },
  message: {
    ...SENTENCE,
    description: 'What the rule asks for, in words for people.',
    example: 'must be 3 to 20 characters',
  },
  available: {
    type: 'integer',
    format: 'int32',
    minimum: 0,
    maximum: 2 ** 31 - 1,
    description: 'The number of pieces that are left. Only of a conflict about stock.',
    example: 3,
  },
};
/** What each violation has. */
const OF_EACH = ['field', 'rule', 'message'];

function codeSchema(codes: Map<string, ErrorKind>): SchemaObject {
  const lines = [...codes].map(([code, { status, message }]) => `- \`${code}\` (${status}): ${message}`);
  return {
    type: 'string',
    enum: [...codes.keys()],
    description: `What happened, for a program:\n\n${lines.join('\n')}`,
    example: 'VALIDATION_ERROR',
  };
}

const error: Properties = {
  message: { ...SENTENCE, description: 'What happened, in words for people.', example: 'Request validation failed' },
  details: {
    type: 'string',
    description: 'Details, in words for people. A 5xx has only the request id.',
    example: 'username: must be 3 to 20 characters',
  },
  timestamp: {
    type: 'string',
    format: 'date-time',
    maxLength: 24,
    description: 'The time of the answer.',
    example: '2026-01-31T12:00:00.000Z',
  },
  fields: {
    type: 'array',
    maxItems: MAX_VIOLATIONS,
    description: `With \`VALIDATION_ERROR\` one entry for each rule that is broken, with \`CONFLICT\` one for each conflict; for the first ${MAX_VIOLATIONS}.`,
    items: { type: 'object', required: OF_EACH, properties: violation },
  },
};

/**
 * The schema of the error envelope.
 * @param raised errors that only some routes raise, whose codes are added
 */
export function errorSchema(raised: ErrorExample[]): SchemaObject {
  const codes = new Map(knownCodes().map((code) => [code, kindOf(code)]));
  for (const example of raised) if (!codes.has(example.code)) codes.set(example.code, example);
  const properties: Properties = { code: codeSchema(codes), ...error };
  return {
    type: 'object',
    required: ['error'],
    properties: { error: { type: 'object', required: ['code', 'message', 'details', 'timestamp'], properties } },
  };
}
