import { MAX_NAME, MAX_VIOLATIONS } from '../errors/api-error';
import { kindOf, knownCodes } from '../errors/error-codes';
import { MAX_SENTENCE } from '../errors/http-exceptions';
import { textPattern } from '../text/text';
import type { ErrorExample } from './error-examples';
import type { SchemaObject } from './openapi-types';

type Properties = NonNullable<SchemaObject['properties']>;

/** What is documented of a code. */
export interface DocumentedCode {
  code: string;
  status: number;
  message: string;
}

/** A sentence of the service, which contains no text of a caller. */
const SENTENCE = {
  type: 'string',
  maxLength: MAX_SENTENCE,
  pattern: textPattern({ min: 1, multiline: false, secret: false }),
};
const REQUIRED = ['code', 'message', 'details', 'timestamp'];

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
    description:
      'The name of the rule, for programs. Of a conflict `unique`, `stock`, `transition`, `key` or `administrator`, for example.',
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

const VIOLATION = 'FieldViolation';
const DETAILS = 'ErrorDetails';
/** The parts of errors that have a name: `fields` holds violations. */
export const PARTS_OF_ERRORS: Record<string, SchemaObject> = {
  [VIOLATION]: { type: 'object', required: OF_EACH, properties: violation },
  [DETAILS]: {
    type: 'string',
    description: 'Details of an error, in words for people. A 5xx has only the request id.',
    example: 'username: must be 3 to 20 characters',
  },
};

/** What the entries of `fields` are, by the codes that have them. */
const FIELDS_OF_CODES: Record<string, string> = {
  VALIDATION_ERROR: 'one entry for each rule that is broken',
  CONFLICT: 'one entry for each conflict with a field',
};

function fieldsOf(codes: string[]): SchemaObject {
  const entries = codes.map((code) => `With \`${code}\` ${FIELDS_OF_CODES[code]}.`);
  return {
    type: 'array',
    maxItems: MAX_VIOLATIONS,
    description: [...entries, `There are ${MAX_VIOLATIONS} at most.`].join(' '),
    items: { $ref: `#/components/schemas/${VIOLATION}` },
  };
}

const details = { $ref: `#/components/schemas/${DETAILS}` };

/** The schema of errors with some codes: it allows no others, so a client can tell them apart. */
export function narrowErrorSchema(codes: DocumentedCode[]): SchemaObject {
  const [{ message }] = codes;
  const withFields = codes.map(({ code }) => code).filter((code) => code in FIELDS_OF_CODES);
  return envelope(
    {
      code: codeSchema(codes),
      message: { ...SENTENCE, description: 'What happened, in words for people.', example: message },
      details,
      timestamp,
      ...(withFields.length > 0 && { fields: fieldsOf(withFields) }),
    },
    // Every error with this code names what is wrong.
    codes.every(({ code }) => code === 'VALIDATION_ERROR'),
  );
}

/**
 * The schema of any error, for code that handles them all.
 * @param raised errors that only some routes raise, whose codes are added
 */
export function anyErrorSchema(raised: ErrorExample[]): SchemaObject {
  const codes = new Map<string, DocumentedCode>(knownCodes().map((code) => [code, { code, ...kindOf(code) }]));
  for (const example of raised) if (!codes.has(example.code)) codes.set(example.code, example);
  const description = 'What happened, in words for people.';
  return envelope({
    code: codeSchema([...codes.values()]),
    message: { ...SENTENCE, description, example: 'Request validation failed' },
    details,
    timestamp,
    fields: fieldsOf(Object.keys(FIELDS_OF_CODES)),
  });
}

const timestamp: Properties[string] = {
  type: 'string',
  format: 'date-time',
  maxLength: 24,
  description: 'The time of the answer.',
  example: '2026-01-31T12:00:00.000Z',
};

function codeSchema(codes: DocumentedCode[]): SchemaObject {
  const lines = codes.map(({ code, status, message }) => `- \`${code}\` (${status}): ${message}`);
  return {
    type: 'string',
    enum: codes.map(({ code }) => code),
    description: `What happened, for a program:\n\n${lines.join('\n')}`,
    example: codes[0].code,
  };
}

function envelope(properties: Properties, requiresFields = false): SchemaObject {
  const required = [...REQUIRED, ...(requiresFields ? ['fields'] : [])];
  return { type: 'object', required: ['error'], properties: { error: { type: 'object', required, properties } } };
}
