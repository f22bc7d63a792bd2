import { ApiError } from '../../platform';

/** The error of Amazon's SDK about a failed request. */
interface S3Error {
  name?: string;
  /** Present if the request was sent, with the status of its answer, if there was one. */
  $metadata?: { httpStatusCode?: number };
}

const NOT_FOUND = new Set(['NotFound', 'NoSuchKey', 'NoSuchUpload']);
const SLOW_DOWN = 429;
const SERVER_ERROR = 500;

/** True for a missing object or multipart upload; false for a missing bucket. */
export const isNotFound = (error: unknown): boolean => NOT_FOUND.has((error as S3Error | undefined)?.name ?? '');

/** For a request that was sent: true if a retry may succeed. */
export function isTemporary(error: unknown): boolean {
  const status = (error as S3Error).$metadata?.httpStatusCode ?? SERVER_ERROR;
  return status >= SERVER_ERROR || status === SLOW_DOWN;
}

/** 503 if the storage can't be reached or is overloaded; otherwise the error itself. */
export function fromS3Error(error: unknown): unknown {
  return (error as S3Error).$metadata && isTemporary(error) ? unavailable(error) : error;
}

export const unavailable = (cause: unknown): ApiError => new ApiError('SERVICE_UNAVAILABLE', { cause });
