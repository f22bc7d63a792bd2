import { errorExamples } from './error-examples';
import { type ErrorCode, ERRORS } from '../errors/error-codes';

type Schema = Record<string, unknown>;

export const ERROR_SCHEMA: Schema = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message', 'details', 'timestamp'],
      properties: {
        code: { type: 'string', enum: Object.keys(ERRORS), description: 'Says what happened, for a program.' },
        message: { type: 'string', description: 'Says what happened, for a person.' },
        details: { type: 'string', description: 'More about it; for a 5xx the request id.' },
        timestamp: { type: 'string', format: 'date-time' },
        fields: {
          type: 'array',
          description: 'Only with VALIDATION_ERROR: one entry for each violated rule.',
          items: {
            type: 'object',
            required: ['field', 'rule', 'message'],
            properties: {
              field: { type: 'string', description: 'Path of the field, e.g. `items.0.quantity`.' },
              rule: { type: 'string' },
              message: { type: 'string' },
            },
          },
        },
      },
    },
  },
};

const HEADERS: Partial<Record<ErrorCode, [name: string, description: string, example: string]>> = {
  UNAUTHORIZED: ['WWW-Authenticate', 'What is asked for.', 'Bearer'],
  METHOD_NOT_ALLOWED: ['Allow', 'The methods that this path has.', 'GET, HEAD, OPTIONS'],
  TOO_MANY_REQUESTS: ['Retry-After', 'Seconds to wait.', '42'],
  SERVICE_UNAVAILABLE: ['Retry-After', 'Seconds to wait.', '1'],
};

/** One reusable response of the document: all the codes of one status, each with an example. */
export function errorResponse(codes: ErrorCode[]): Schema {
  const header = HEADERS[codes[0]];
  return {
    description: codes.map((code) => ERRORS[code].message).join('; or: '),
    headers: {
      'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' },
      ...(header && { [header[0]]: { description: header[1], schema: { type: 'string' }, example: header[2] } }),
    },
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Error' },
        examples: Object.fromEntries(codes.map((code) => [code, { value: errorExamples[code] }])),
      },
    },
  };
}
