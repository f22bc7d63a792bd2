import { isNativeError } from 'node:util/types';
import { ApiError } from '../../conventions/errors/api-error';

/** What Amazon's SDK tells of a request that failed. */
interface S3Error {
  name?: string;
  code?: string;
  $metadata?: { httpStatusCode?: number };
}

const NOT_FOUND = new Set(['NotFound', 'NoSuchKey', 'NoSuchUpload']);
/** Without an answer: the network, or a time-out. */
const UNREACHABLE = /^(E[A-Z_]+|TimeoutError|NetworkingError)$/;
const SLOW_DOWN = 429;
const SERVER_ERROR = 500;

/** An object or a multipart upload that isn't there; not a bucket that isn't. */
export const isNotFound = (error: unknown): boolean => NOT_FOUND.has((error as S3Error | undefined)?.name ?? '');

/** 503 when the storage cannot be reached, or has too much to do; else the error itself. */
export function fromS3Error(error: unknown): unknown {
  if (error instanceof ApiError || !isNativeError(error)) return error;
  const { name = '', code = '', $metadata } = error as S3Error;
  const status = $metadata?.httpStatusCode ?? 0;
  const local = code === 'ENOSPC' || code === 'EDQUOT';
  const temporary = status >= SERVER_ERROR || status === SLOW_DOWN;
  if (local || !(temporary || UNREACHABLE.test(code) || UNREACHABLE.test(name))) return error;
  return new ApiError('SERVICE_UNAVAILABLE', { cause: error });
}
