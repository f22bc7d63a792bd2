import { STATUS_CODES } from 'node:http';
import { HttpStatus } from '@nestjs/common';

export interface ErrorKind {
  /** HTTP status, 400 to 599. */
  status: number;
  /** The message if the error has no other. */
  message: string;
  /** Headers that every answer with this code must have. */
  headers?: Record<string, string>;
}

/** The codes of the service itself. {@link declareErrors} adds others. */
export const ERRORS = {
  VALIDATION_ERROR: { status: HttpStatus.BAD_REQUEST, message: 'Request validation failed' },
  UNAUTHORIZED: {
    status: HttpStatus.UNAUTHORIZED,
    message: 'Authentication is required',
    headers: { 'WWW-Authenticate': 'Bearer' },
  },
  FORBIDDEN: { status: HttpStatus.FORBIDDEN, message: 'You are not allowed to do this' },
  NOT_FOUND: { status: HttpStatus.NOT_FOUND, message: 'Resource not found' },
  METHOD_NOT_ALLOWED: { status: HttpStatus.METHOD_NOT_ALLOWED, message: 'This method is not allowed here' },
  NOT_ACCEPTABLE: { status: HttpStatus.NOT_ACCEPTABLE, message: 'No representation that you accept can be produced' },
  REQUEST_TIMEOUT: { status: HttpStatus.REQUEST_TIMEOUT, message: 'The request did not arrive in time' },
  CONFLICT: { status: HttpStatus.CONFLICT, message: 'The request conflicts with the current state' },
  PRECONDITION_FAILED: { status: HttpStatus.PRECONDITION_FAILED, message: 'The resource has changed' },
  GONE: { status: HttpStatus.GONE, message: 'The resource is gone' },
  PAYLOAD_TOO_LARGE: { status: HttpStatus.PAYLOAD_TOO_LARGE, message: 'The request body is too large' },
  UNSUPPORTED_MEDIA_TYPE: { status: HttpStatus.UNSUPPORTED_MEDIA_TYPE, message: 'This media type is not supported' },
  RANGE_NOT_SATISFIABLE: {
    status: HttpStatus.REQUESTED_RANGE_NOT_SATISFIABLE,
    message: 'The range lies outside of the content',
  },
  EXPECTATION_FAILED: { status: HttpStatus.EXPECTATION_FAILED, message: 'This expectation cannot be met' },
  IDEMPOTENCY_KEY_REUSED: {
    status: HttpStatus.UNPROCESSABLE_ENTITY,
    message: 'The idempotency key was used with another request',
  },
  LOCKED: {
    status: 423,
    message: 'Another request is writing to this resource',
    headers: { 'Retry-After': '1' },
  },
  TOO_MANY_REQUESTS: { status: HttpStatus.TOO_MANY_REQUESTS, message: 'Too many requests, try again later' },
  HEADERS_TOO_LARGE: { status: 431, message: 'The request headers are too large' },
  INTERNAL_ERROR: { status: HttpStatus.INTERNAL_SERVER_ERROR, message: 'An internal error occurred' },
  SERVICE_UNAVAILABLE: {
    status: HttpStatus.SERVICE_UNAVAILABLE,
    message: 'The service is unavailable, try again later',
    headers: { 'Retry-After': '1' },
  },
  INSUFFICIENT_STORAGE: { status: 507, message: 'There is no room to store this, try again later' },
} as const satisfies Record<string, ErrorKind>;

declare const declared: unique symbol;

/** A code that {@link declareErrors} has returned. */
export type DeclaredCode = string & { readonly [declared]: true };
export type ErrorCode = keyof typeof ERRORS | DeclaredCode;

const CODE = /^[A-Z][A-Z0-9_]{1,63}$/;
/** Codes with a special meaning. A Nest exception with the same status gets another code. */
const PARTICULAR: string[] = ['IDEMPOTENCY_KEY_REUSED'];

const kinds = new Map<string, ErrorKind>(Object.entries(ERRORS));
const general = Object.entries(ERRORS).filter(([code]) => !PARTICULAR.includes(code));
const codesOfStatuses = new Map<number, string>(general.map(([code, { status }]) => [status, code]));
const declaredCodes = new Set<string>();

/**
 * Adds error codes of a resource. They become part of the document, and ApiError accepts them:
 *
 *     export const NoteErrors = declareErrors({ NOTE_LOCKED: { status: 423, message: 'The note is locked' } });
 *     throw new ApiError(NoteErrors.NOTE_LOCKED);
 *
 * @throws {Error} for a name that is taken or isn't a code, and for a status that isn't an error's
 */
export function declareErrors<T extends Record<string, ErrorKind>>(own: T): { [Name in keyof T]: DeclaredCode } {
  for (const [code, kind] of Object.entries(own)) declare(code, kind);
  return Object.fromEntries(Object.keys(own).map((code) => [code, code])) as { [Name in keyof T]: DeclaredCode };
}

function declare(code: string, kind: ErrorKind): void {
  if (!CODE.test(code)) throw new Error(`${code} is no error code: write it like OUT_OF_PAPER, in 2 to 64 characters`);
  if (!isErrorStatus(kind.status)) throw new Error(`${code} needs an HTTP status of an error, from 400 to 599`);
  if (kinds.has(code)) throw new Error(`The error code ${code} is declared already`);
  kinds.set(code, kind);
  declaredCodes.add(code);
}

/** All codes that an answer may have. */
export function knownCodes(): string[] {
  return [...Object.keys(ERRORS), ...declaredCodes];
}

export function kindOf(code: string): ErrorKind {
  return kinds.get(code) ?? ERRORS.INTERNAL_ERROR;
}

/** The code of an error of which only the status is known, e.g. PAYMENT_REQUIRED for 402. */
export function codeOfStatus(status: number): ErrorCode {
  let code = codesOfStatuses.get(status);
  if (code === undefined) {
    const message = STATUS_CODES[status] ?? `HTTP ${status}`;
    code = message
      .toUpperCase()
      .replaceAll("'", '')
      .replaceAll(/[^A-Z0-9]+/g, '_');
    codesOfStatuses.set(status, code);
    kinds.set(code, { status, message });
  }
  return code as ErrorCode;
}

export function isErrorStatus(status: unknown): status is number {
  return Number.isInteger(status) && (status as number) >= 400 && (status as number) < 600;
}
