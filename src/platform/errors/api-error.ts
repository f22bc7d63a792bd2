import { STATUS_CODES } from 'node:http';
import { BadRequestException, HttpException } from '@nestjs/common';
import { type ErrorCode, kindOf } from './error-codes';

/** A violated rule of a field, or a conflict. */
export interface FieldViolation {
  /** Path of the field, e.g. `items.0.quantity`. */
  field: string;
  /** The rule's name, e.g. `length`; of a conflict `unique`, `stock`, `transition`, `key` or `administrator`, for example. */
  rule: string;
  /** The requirement of the rule; never the rejected value. */
  message: string;
  /** The number of pieces that are left, of a conflict about stock. */
  available?: number;
}

export interface ApiErrorOptions {
  /** What happened, for people. Default: the message of the code */
  message?: string;
  /** Details for people. Default: the message */
  details?: string;
  /** The violated rules, or the conflicts. */
  fields?: FieldViolation[];
  /** Headers of the answer, e.g. `Retry-After`, beside those of the code. */
  headers?: Record<string, string>;
  /** The original error. It is logged, and never sent to the caller. */
  cause?: unknown;
}

/** HttpException without its private properties. One of them is the status, which ApiError makes public. */
interface Exception extends Error {
  getStatus(): number;
  getResponse(): string | object;
}
type ExceptionClass = new (message: string, status: number) => Exception;

const asked = new WeakMap<object, ApiError>();

/** The error whose `getResponse()` has returned this object. */
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

    /**
     * The response object for exception filters, in the form of Nest's own exceptions. The error filter makes the
     * envelope instead.
     */
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

/** The only error that is sent to callers: a code, and what the caller may know. */
export class ApiError extends errorOver(HttpException) {}

class BadRequest extends BadRequestException {
  constructor(message: string, _status: number) {
    super(message);
  }
}

/**
 * The same for a request that violates rules: Nest's validation throws a BadRequestException, so this is one too. See
 * {@link isApiError}.
 */
class InvalidRequest extends errorOver(BadRequest) {}

export function isApiError(thrown: unknown): thrown is ApiError {
  return thrown instanceof ApiError || thrown instanceof InvalidRequest;
}

/** More violations of one request are left out, so that an answer isn't many times as long as its request. */
export const MAX_VIOLATIONS = 20;
/**
 * The greatest length of a field's name in UTF-16 units, because the caller may have chosen it. A shortened name ends
 * with an ellipsis.
 */
export const MAX_NAME = 100;

/** 400 with an entry for each violated rule, for the first 20. */
export function validationError(violations: FieldViolation[]): ApiError {
  return new InvalidRequest('VALIDATION_ERROR', toldOf(violations));
}

/** A reference to a row that is not there, or that the caller may not use: the answer doesn't tell which. */
export const unusable = (field: string): FieldViolation => ({
  field,
  rule: 'fkey',
  message: 'must name something that is there, and that you may use',
});

/**
 * 409 with an entry for each conflict, for the first 20.
 * @param options Default of the details: the entries
 */
export function conflict(conflicts: FieldViolation[], options: Omit<ApiErrorOptions, 'fields'> = {}): ApiError {
  return new ApiError('CONFLICT', { ...toldOf(conflicts), ...options });
}

function toldOf(violations: FieldViolation[]) {
  const fields = violations
    .slice(0, MAX_VIOLATIONS)
    .map(({ field, ...rest }) => ({ field: shortened(field), ...rest }));
  return { fields, details: fields.map(({ field, message }) => `${field}: ${message}`).join('; ') };
}

/** Never ends with half of a surrogate pair. */
function shortened(name: string): string {
  return name.length > MAX_NAME ? `${name.slice(0, MAX_NAME).replace(/\p{Surrogate}$/u, '')}…` : name;
}
