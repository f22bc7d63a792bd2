import type { NextFunction, Request, Response } from 'express';
import type { Logger } from 'pino';
import { targetsOf } from '../input/targets';

/** One line for each request, when its response is over: what was asked and what came of it, no header and no body. */
export function logRequests(logger: Logger) {
  return (request: Request, response: Response, next: NextFunction): void => {
    // A connection that was closed doesn't tell it any more.
    const address = request.ip ?? null;
    response.on('close', () => {
      const { statusCode } = response;
      const level = statusCode >= 500 ? 'error' : 'info';
      logger[level](
        {
          request_id: request.id,
          method: request.method,
          // The pattern, not the path: what a caller wrote there stays out of the log.
          route: (request.route as { path?: string } | undefined)?.path ?? null,
          target: targetsOf(request),
          version: request.version,
          status: response.headersSent ? statusCode : null,
          ms: Math.round((performance.now() - request.startedAt) * 10) / 10,
          user_id: request.user?.id ?? null,
          address,
          aborted: response.writableFinished ? undefined : true,
        },
        'request',
      );
    });
    next();
  };
}
