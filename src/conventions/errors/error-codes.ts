import { HttpStatus } from '@nestjs/common';

interface ErrorKind {
  status: number;
  message: string;
  headers?: Record<string, string>;
}

/**
 * Every symbolic code there is, with its HTTP status, the message that goes out when nothing more can be said, and the
 * headers that such an answer must have, whoever gives it.
 */
export const ERRORS = {
  VALIDATION_ERROR: { status: HttpStatus.BAD_REQUEST, message: 'Request validation failed' },
  UNAUTHORIZED: {
    status: HttpStatus.UNAUTHORIZED,
    message: 'Authentication is required',
    headers: { 'WWW-Authenticate': 'Bearer' },
  },
  FORBIDDEN: { status: HttpStatus.FORBIDDEN, message: 'You are not allowed to do this' },
  USER_NOT_FOUND: { status: HttpStatus.NOT_FOUND, message: 'User not found' },
  NOT_FOUND: { status: HttpStatus.NOT_FOUND, message: 'Resource not found' },
  METHOD_NOT_ALLOWED: { status: HttpStatus.METHOD_NOT_ALLOWED, message: 'This method is not allowed here' },
  NOT_ACCEPTABLE: { status: HttpStatus.NOT_ACCEPTABLE, message: 'No representation that you accept can be produced' },
  REQUEST_TIMEOUT: { status: HttpStatus.REQUEST_TIMEOUT, message: 'The request did not arrive in time' },
  CONFLICT: { status: HttpStatus.CONFLICT, message: 'The request conflicts with the current state' },
  PRECONDITION_FAILED: { status: HttpStatus.PRECONDITION_FAILED, message: 'The resource has changed' },
  GONE: { status: HttpStatus.GONE, message: 'This is not there any more' },
  QUOTA_EXCEEDED: { status: HttpStatus.PAYLOAD_TOO_LARGE, message: 'There is no room for this in your quota' },
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
    message: 'Another request is writing to this',
    headers: { 'Retry-After': '1' },
  },
  TOO_MANY_REQUESTS: { status: HttpStatus.TOO_MANY_REQUESTS, message: 'Too many requests, try again later' },
  HEADERS_TOO_LARGE: { status: 431, message: 'The request headers are too large' },
  CHECKSUM_MISMATCH: { status: 460, message: 'The bytes do not have the checksum that came with them' },
  INTERNAL_ERROR: { status: HttpStatus.INTERNAL_SERVER_ERROR, message: 'An internal error occurred' },
  SERVICE_UNAVAILABLE: {
    status: HttpStatus.SERVICE_UNAVAILABLE,
    message: 'The service is unavailable, try again later',
    headers: { 'Retry-After': '1' },
  },
  INSUFFICIENT_STORAGE: { status: 507, message: 'There is no room to store this, try again later' },
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof ERRORS;

export function headersOf(code: ErrorCode): Record<string, string> {
  const { headers = {} }: ErrorKind = ERRORS[code];
  return headers;
}
