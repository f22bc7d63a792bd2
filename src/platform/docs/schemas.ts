import { MAX_ID } from '../rows/resource.entity';
import { CURSOR_PATTERN, MAX_CURSOR } from '../lists/cursor';
import { MAX_SIZE } from '../lists/list-query';
import type { Version } from '../http/api-version';
import type { ReferenceObject, SchemaObject } from './openapi-types';

/** The last time of JavaScript's Date, in milliseconds since 1970. */
const LAST_MOMENT = 8.64e15;

/** The longest reason phrase of a success is Non-Authoritative Information. */
const MAX_PHRASE = 32;

type Properties = NonNullable<SchemaObject['properties']>;

/** The schema of the success envelope around `data`. It is the same for all successes, so that it can have a name. */
export function envelopeSchema(data: Properties[string], more: Properties = {}): SchemaObject {
  const properties: Properties = {
    code: {
      type: 'integer',
      format: 'int32',
      minimum: 200,
      maximum: 299,
      description: 'The HTTP status again.',
      example: 200,
    },
    message: {
      type: 'string',
      maxLength: MAX_PHRASE,
      pattern: '^[A-Za-z -]+$',
      description: 'The reason phrase of the status.',
      example: 'OK',
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

/** The component of `pagination` in each version, by its name. */
export const PAGINATION: Record<Version, { name: string; schema: SchemaObject }> = {
  1: {
    name: 'Pagination',
    schema: { type: 'object', required: Object.keys(pagination), properties: pagination },
  },
  2: {
    name: 'CursorPagination',
    schema: {
      type: 'object',
      required: Object.keys(cursorPagination),
      properties: { ...cursorPagination, ...counted },
    },
  },
};

export const paginationOf = (version: Version): ReferenceObject => ({
  $ref: `#/components/schemas/${PAGINATION[version].name}`,
});
