import { STATUS_CODES } from 'node:http';
import { BadRequestException, HttpException } from '@nestjs/common';
import { type ErrorCode, kindOf } from './error-codes';

/** One violated rule of one field. */
export interface FieldViolation {
  /** Path of the field, e.g. `items.0.quantity`. */
  field: string;
  /** The rule's name, e.g. `length`. */
  rule: string;
  /** What the rule asks for; never the rejected value. */
  message: string;
}

export interface ApiErrorOptions {
  /** What happened, in words for people. Default: the code's own message. */
  message?: string;
  /** More about it, for a person. Default: the message. */
  details?: string;
  /** Only with VALIDATION_ERROR. */
  fields?: FieldViolation[];
  /** Headers that belong to the answer, e.g. `Retry-After`, besides the code's own. */
  headers?: Record<string, string>;
  /** What was thrown in the first place; goes to the log, never to the caller. */
  cause?: unknown;
}

/** An HttpException without its private properties, one of which is the status that an ApiError shows. */
interface Exception extends Error {
  getStatus(): number;
  getResponse(): string | object;
}
type ExceptionClass = new (message: string, status: number) => Exception;

const asked = new WeakMap<object, ApiError>();

/** The error that has said this by `getResponse()`. */
export function errorThatSaid(response: string | object): ApiError | undefined {
  return typeof response === 'object' ? asked.get(response) : undefined;
}

function errorOver(Base: ExceptionClass) {
  return class extends Base {
    readonly status: number;
    readonly details: string;
    readonly fields?: FieldViolation[];
    readonly headers: Record<string, string>;

    constructor(
      readonly code: ErrorCode,
      { message = kindOf(code).message, details = message, fields, headers, cause }: ApiErrorOptions = {},
    ) {
      const kind = kindOf(code);
      super(message, kind.status);
      this.message = message;
      this.cause = cause;
      this.status = kind.status;
      this.details = details;
      this.fields = fields;
      this.headers = { ...kind.headers, ...headers };
    }

    /** What an exception filter prints, as Nest's own exceptions have it. The error filter has an envelope of its own. */
    override getResponse(): object {
      const { status: statusCode, code, fields } = this;
      const message = fields?.map((one) => `${one.field}: ${one.message}`) ?? this.message;
      const error = STATUS_CODES[statusCode] ?? this.message;
      const more = { ...(statusCode < 500 && { details: this.details }), ...(fields && { fields }) };
      const response = { statusCode, message, error, code, ...more };
      asked.set(response, this);
      return response;
    }
  };
}

/** The only error that leaves the service: a code and what the caller may know of it. */
export class ApiError extends errorOver(HttpException) {}

class BadRequest extends BadRequestException {
  constructor(message: string, _status: number) {
    super(message);
  }
}

/** The same for a request that breaks rules, which Nest's validation answers by this class. See {@link isApiError}. */
class InvalidRequest extends errorOver(BadRequest) {}

export function isApiError(thrown: unknown): thrown is ApiError {
  return thrown instanceof ApiError || thrown instanceof InvalidRequest;
}

/** Of a request that is all wrong the first violations are enough; an answer must not be many times as long as its request. */
export const MAX_VIOLATIONS = 20;
/** Of a field's name, which the caller may have made up, in UTF-16 units; one that is cut has an ellipsis besides. */
export const MAX_NAME = 100;

/** 400 with one entry for each violated rule, for the first 20. */
export function validationError(violations: FieldViolation[]): ApiError {
  const fields = violations
    .slice(0, MAX_VIOLATIONS)
    .map(({ field, ...rest }) => ({ field: shortened(field), ...rest }));
  const details = fields.map(({ field, message }) => `${field}: ${message}`).join('; ');
  return new InvalidRequest('VALIDATION_ERROR', { details, fields });
}

/** Well-formed, so that no half of a surrogate pair is sent. */
function shortened(name: string): string {
  return name.length > MAX_NAME ? `${name.slice(0, MAX_NAME).replace(/\p{Surrogate}$/u, '')}…` : name;
}
