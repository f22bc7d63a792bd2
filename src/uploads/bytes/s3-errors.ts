import { ApiError } from '../../platform';

/** What Amazon's SDK tells of a request that failed. */
interface S3Error {
  name?: string;
  /** Of a request that was sent; with the status of its answer, if there was any. */
  $metadata?: { httpStatusCode?: number };
}

const NOT_FOUND = new Set(['NotFound', 'NoSuchKey', 'NoSuchUpload']);
const SLOW_DOWN = 429;
const SERVER_ERROR = 500;

/** An object or a multipart upload that isn't there; not a bucket that isn't. */
export const isNotFound = (error: unknown): boolean => NOT_FOUND.has((error as S3Error | undefined)?.name ?? '');

/** Of a request that was sent: whether it may go well the next time. */
export function isTemporary(error: unknown): boolean {
  const status = (error as S3Error).$metadata?.httpStatusCode ?? SERVER_ERROR;
  return status >= SERVER_ERROR || status === SLOW_DOWN;
}

/** 503 when the storage cannot be reached, or has too much to do; else the error itself. */
export function fromS3Error(error: unknown): unknown {
  return (error as S3Error).$metadata && isTemporary(error) ? unavailable(error) : error;
}

export const unavailable = (cause: unknown): ApiError => new ApiError('SERVICE_UNAVAILABLE', { cause });
