import { isNativeError } from 'node:util/types';
import { HttpException } from '@nestjs/common';
import { AuthenticationError } from '../../auth/auth-errors';
import { StaleVersionError } from '../../database/expectation';
import { WRITER_CHANGED } from '../../database/writer';
import { quoted } from '../responses/entity-tag';
import { ApiError, validationError } from './api-error';
import { fromDatabaseError, sqlStateOf } from './database-errors';
import { type ErrorCode, ERRORS } from './error-codes';

/** What Express's router and its file server throw. */
interface HttpError {
  status?: number;
}

const codeOfStatus = new Map<number, ErrorCode>(
  // Of two codes with one status the later wins: NOT_FOUND, not USER_NOT_FOUND, is the general one.
  Object.entries(ERRORS).map(([code, { status }]) => [status, code as ErrorCode]),
);

/** Whatever was thrown, wherever: the one answer to it. Pure. */
export function toApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  return (
    fromExpectation(thrown) ??
    fromWriterCheck(thrown) ??
    fromDatabaseError(thrown) ??
    fromHttpException(thrown) ??
    fromHttpError(thrown) ??
    new ApiError('INTERNAL_ERROR', { cause: thrown })
  );
}

/** With the tag of the version that there is, so that the caller need not ask for it. */
function fromExpectation(thrown: unknown): ApiError | undefined {
  if (!(thrown instanceof StaleVersionError)) return undefined;
  return new ApiError('PRECONDITION_FAILED', { headers: { ETag: quoted(String(thrown.version)) }, cause: thrown });
}

/** Of a request that was let in, and whose caller is no longer who its token says. */
function fromWriterCheck(thrown: unknown): ApiError | undefined {
  return sqlStateOf(thrown) === WRITER_CHANGED ? fromHttpException(AuthenticationError.invalidToken()) : undefined;
}

function fromHttpException(thrown: unknown): ApiError | undefined {
  if (!(thrown instanceof HttpException)) return undefined;
  if (thrown instanceof AuthenticationError) {
    return new ApiError('UNAUTHORIZED', { message: thrown.message, headers: { 'WWW-Authenticate': thrown.challenge } });
  }
  const code = codeOfStatus.get(thrown.getStatus());
  if (!code) return undefined;
  // A text that a developer wrote for a client error is for the caller; one of a server error is for the log.
  const message = thrown.getStatus() < 500 ? thrown.message : undefined;
  return code === 'VALIDATION_ERROR' ? requestError(thrown.message) : new ApiError(code, { message, cause: thrown });
}

function fromHttpError(thrown: unknown): ApiError | undefined {
  if (!isNativeError(thrown)) return undefined;
  const { status } = thrown as HttpError;
  // The router gives a status to the error of a path that it can't decode; any other URIError is a mistake of ours.
  if (thrown instanceof URIError && status === 400) return pathError();
  const code = status && status < 500 ? codeOfStatus.get(status) : undefined;
  if (code === 'VALIDATION_ERROR') return requestError('is not acceptable');
  return code && new ApiError(code, { cause: thrown });
}

/** The body as a whole is wrong. */
export function bodyError(rule: string, message: string): ApiError {
  return validationError([{ field: 'body', rule, message }]);
}

/** Something is wrong with the request, and whoever found it does not say with which part. */
function requestError(message: string): ApiError {
  return validationError([{ field: 'request', rule: 'invalid', message }]);
}

function pathError(): ApiError {
  return validationError([{ field: 'path', rule: 'encoding', message: 'must be well-formed percent-encoded UTF-8' }]);
}
