import { Logger } from '@nestjs/common';
import type { Response } from 'express';
import { TLSSocket } from 'node:tls';

const logger = new Logger('Export');

/**
 * Ends an answer that has begun, so that its client doesn't take it for whole. The connection is reset: to a client of
 * HTTP/1.0, such as a proxy, an ordinary end would mean that all has come.
 */
export function breakOff(response: Response, reason: unknown): void {
  if (response.closed || response.writableFinished) return;
  const { socket, req: request } = response;
  logger.warn({ err: reason, request_id: request.id }, 'An export was broken off');
  if (socket && !(socket instanceof TLSSocket)) socket.resetAndDestroy();
  else response.destroy();
}
