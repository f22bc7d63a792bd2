import { Logger } from '@nestjs/common';
import { ApiError } from '../../platform';

const logger = new Logger('Uploads');

/** Logs that stored bytes are missing, and returns 410. The operator must know, as no client is to blame. */
export function reportContentGone(key: string, cause?: unknown): ApiError {
  logger.error({ err: cause, upload: key }, 'The bytes of an upload are gone');
  return contentGone();
}

/** 410 for an upload whose bytes the store has lost. */
export const contentGone = (): ApiError => new ApiError('GONE', { message: 'The bytes of this upload are lost' });
