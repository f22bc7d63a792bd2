import { Logger } from '@nestjs/common';
import type { Response } from 'express';

const logger = new Logger('Export');

/**
 * Ends an answer that has begun, so that its client doesn't take it for whole: the last chunk is missing. A client of
 * HTTP/1.0, which knows no chunks, sees a reset (see `server/reset-unfinished.ts`).
 */
export function breakOff(response: Response, reason: unknown): void {
  if (response.closed || response.writableFinished) return;
  const { id, traceId } = response.req;
  logger.warn({ err: reason, request_id: id, trace_id: traceId }, 'An export was broken off');
  response.destroy();
}
