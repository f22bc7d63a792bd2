import { isNativeError } from 'node:util/types';
import { HttpException } from '@nestjs/common';
import { OptimisticLockVersionMismatchError } from 'typeorm';
import { AuthenticationError } from '../auth/auth-errors';
import { StaleVersionError } from '../transactions/precondition';
import { WRITER_CHANGED } from '../transactions/writer';
import { quoted } from '../http/entity-tag';
import { ApiError, errorThatSaid, isApiError, validationError } from './api-error';
import { fromDatabaseError, sqlStateOf } from './database-errors';
import { codeOfStatus } from './error-codes';
import { fromHttpException, invalid } from './http-exceptions';

/** Errors of the package http-errors, which Express's router, file server and body parsers throw. */
interface HttpError extends Error {
  status?: number;
  statusCode?: number;
  /**
   * True if the message may be sent. The property also distinguishes these errors from those of HTTP clients, whose
   * status is another server's.
   */
  expose?: boolean;
  /** The kind of error of a body parser. */
  type?: string;
}

/** Refusals of express.json() and other parsers, in the words of the service's own body reader. */
const PARSED: Record<string, [rule: string, message: string]> = {
  'entity.parse.failed': ['json', 'must be valid JSON'],
  'querystring.parse.rangeError': ['depth', 'must not nest so deep'],
  'request.aborted': ['length', 'must arrive whole'],
  'request.size.invalid': ['length', 'must arrive whole'],
};

/** Maps anything that was thrown to the one answer. Pure. */
export function toApiError(thrown: unknown): ApiError {
  return (
    fromService(thrown) ??
    fromException(thrown) ??
    fromHttpError(thrown) ??
    new ApiError('INTERNAL_ERROR', { cause: thrown })
  );
}

/** Maps errors of the service and its database. Undefined for errors of Nest and others. */
export function fromService(thrown: unknown): ApiError | undefined {
  if (isApiError(thrown)) return thrown;
  return fromPrecondition(thrown) ?? fromWriterCheck(thrown) ?? fromDatabaseError(thrown);
}

/** 412 with the current version's tag, so that the caller needs no request to learn it. */
function fromPrecondition(thrown: unknown): ApiError | undefined {
  // TypeORM's own tells no version.
  if (thrown instanceof OptimisticLockVersionMismatchError)
    return new ApiError('PRECONDITION_FAILED', { cause: thrown });
  if (!(thrown instanceof StaleVersionError)) return undefined;
  return new ApiError('PRECONDITION_FAILED', { headers: { ETag: quoted(String(thrown.version)) }, cause: thrown });
}

/** 401 for a request that was admitted, but whose caller has changed since. */
function fromWriterCheck(thrown: unknown): ApiError | undefined {
  return sqlStateOf(thrown) === WRITER_CHANGED ? fromException(AuthenticationError.invalidToken()) : undefined;
}

function fromException(thrown: unknown): ApiError | undefined {
  if (!(thrown instanceof HttpException)) return undefined;
  if (thrown instanceof AuthenticationError) {
    const { message, details, challenge } = thrown;
    return new ApiError('UNAUTHORIZED', { message, details, headers: { 'WWW-Authenticate': challenge } });
  }
  return errorThatSaid(thrown.getResponse()) ?? fromHttpException(thrown);
}

/** The message isn't sent, even if it is exposed: it may quote a path or a body. */
function fromHttpError(thrown: unknown): ApiError | undefined {
  if (!isNativeError(thrown)) return undefined;
  const { status = 0, statusCode, expose, type = '' } = thrown as HttpError;
  // Thrown by the router for a path parameter. A URIError of a handler is the handler's own fault.
  if (thrown instanceof URIError && status === 400) return pathError();
  if (typeof expose !== 'boolean' || status !== statusCode || status < 400 || status >= 500) return undefined;
  if (status === 400 && Object.hasOwn(PARSED, type)) return bodyError(...PARSED[type]);
  return status === 400 ? invalid(['is not acceptable']) : new ApiError(codeOfStatus(status), { cause: thrown });
}

/** 400 for the body as a whole. */
export function bodyError(rule: string, message: string): ApiError {
  return validationError([{ field: 'body', rule, message }]);
}

function pathError(): ApiError {
  return validationError([{ field: 'path', rule: 'encoding', message: 'must be well-formed percent-encoded UTF-8' }]);
}
