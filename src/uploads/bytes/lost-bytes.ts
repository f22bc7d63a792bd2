import { Logger } from '@nestjs/common';
import { ApiError } from '../../platform';

const logger = new Logger('Uploads');

/** Bytes that were safe are not there: no client is to blame, and somebody has to know of it. */
export function lostBytes(key: string, cause?: unknown): ApiError {
  logger.error({ err: cause, upload: key }, 'The bytes of an upload are gone');
  return bytesGone();
}

/** 410 for an upload whose bytes the store has lost. */
export const bytesGone = (): ApiError => new ApiError('GONE', { message: 'The bytes of this upload are gone' });
