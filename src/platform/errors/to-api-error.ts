import { isNativeError } from 'node:util/types';
import { HttpException } from '@nestjs/common';
import { AuthenticationError } from '../auth/auth-errors';
import { StaleVersionError } from '../transactions/precondition';
import { WRITER_CHANGED } from '../transactions/writer';
import { quoted } from '../http/entity-tag';
import { ApiError, errorThatSaid, isApiError, validationError } from './api-error';
import { fromDatabaseError, sqlStateOf } from './database-errors';
import { codeOfStatus } from './error-codes';
import { fromHttpException, invalid } from './http-exceptions';

/** What Express's router, its file server and its body parsers throw: errors of the package http-errors. */
interface HttpError extends Error {
  status?: number;
  statusCode?: number;
  /** Whether the message is for the client; tells these errors from those of HTTP clients, whose status is another's. */
  expose?: boolean;
  /** What a body parser has found. */
  type?: string;
}

/** What express.json() and its kin refuse, in the words of the service's own reader. */
const PARSED: Record<string, [rule: string, message: string]> = {
  'entity.parse.failed': ['json', 'must be valid JSON'],
  'querystring.parse.rangeError': ['depth', 'must not nest so deep'],
  'request.aborted': ['length', 'must arrive whole'],
  'request.size.invalid': ['length', 'must arrive whole'],
};

/** Whatever was thrown, wherever: the one answer to it. Pure. */
export function toApiError(thrown: unknown): ApiError {
  return (
    fromService(thrown) ??
    fromException(thrown) ??
    fromHttpError(thrown) ??
    new ApiError('INTERNAL_ERROR', { cause: thrown })
  );
}

/** What the service itself has found, or its database; undefined for all that Nest and others throw. */
export function fromService(thrown: unknown): ApiError | undefined {
  if (isApiError(thrown)) return thrown;
  return fromPrecondition(thrown) ?? fromWriterCheck(thrown) ?? fromDatabaseError(thrown);
}

/** With the tag of the version that there is, so that the caller need not ask for it. */
function fromPrecondition(thrown: unknown): ApiError | undefined {
  if (!(thrown instanceof StaleVersionError)) return undefined;
  return new ApiError('PRECONDITION_FAILED', { headers: { ETag: quoted(String(thrown.version)) }, cause: thrown });
}

/** Of a request that was let in, and whose caller is no longer who its token says. */
function fromWriterCheck(thrown: unknown): ApiError | undefined {
  return sqlStateOf(thrown) === WRITER_CHANGED ? fromException(AuthenticationError.invalidToken()) : undefined;
}

function fromException(thrown: unknown): ApiError | undefined {
  if (!(thrown instanceof HttpException)) return undefined;
  if (thrown instanceof AuthenticationError) {
    return new ApiError('UNAUTHORIZED', { message: thrown.message, headers: { 'WWW-Authenticate': thrown.challenge } });
  }
  return errorThatSaid(thrown.getResponse()) ?? fromHttpException(thrown);
}

/** The message is not for the caller, even where it is exposed: it may quote a path or a body. */
function fromHttpError(thrown: unknown): ApiError | undefined {
  if (!isNativeError(thrown)) return undefined;
  const { status = 0, statusCode, expose, type = '' } = thrown as HttpError;
  // From the router, for a path parameter. A handler that can't decode something is wrong itself.
  if (thrown instanceof URIError && status === 400) return pathError();
  if (typeof expose !== 'boolean' || status !== statusCode || status < 400 || status >= 500) return undefined;
  if (status === 400 && Object.hasOwn(PARSED, type)) return bodyError(...PARSED[type]);
  return status === 400 ? invalid(['is not acceptable']) : new ApiError(codeOfStatus(status), { cause: thrown });
}

/** The body as a whole is wrong. */
export function bodyError(rule: string, message: string): ApiError {
  return validationError([{ field: 'body', rule, message }]);
}

function pathError(): ApiError {
  return validationError([{ field: 'path', rule: 'encoding', message: 'must be well-formed percent-encoded UTF-8' }]);
}
