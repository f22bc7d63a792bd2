import { type ErrorCode, ERRORS, headersOf } from './error-codes';

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
  /** What happened, for a person. Default: the code's own message. */
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

/** The only error that leaves the service: a code of {@link ERRORS} and what the caller may know of it. */
export class ApiError extends Error {
  readonly status: number;
  readonly details: string;
  readonly fields?: FieldViolation[];
  readonly headers: Record<string, string>;

  constructor(
    readonly code: ErrorCode,
    { message = ERRORS[code].message, details = message, fields, headers, cause }: ApiErrorOptions = {},
  ) {
    super(message, { cause });
    this.status = ERRORS[code].status;
    this.details = details;
    this.fields = fields;
    this.headers = { ...headersOf(code), ...headers };
  }
}

/** 400 with one entry for each violated rule. */
export function validationError(fields: FieldViolation[]): ApiError {
  const details = fields.map(({ field, message }) => `${field}: ${message}`).join('; ');
  return new ApiError('VALIDATION_ERROR', { details, fields });
}
