import type { NextFunction, Request, Response } from 'express';
import type { Logger } from 'pino';
import { answered } from '../signals/answered';
import { targetsOf } from '../input/targets';

/** Logs one line for each request when its response has ended. Headers and bodies are never logged. */
export function logRequests(logger: Logger) {
  return (request: Request, response: Response, next: NextFunction): void => {
    // Read now: a closed connection has no address.
    const address = request.ip ?? null;
    response.on('close', () => {
      const { statusCode } = response;
      const ms = performance.now() - request.startedAt;
      if (answered.isHeard) answered.tell({ request, response, ms });
      const level = statusCode >= 500 ? 'error' : 'info';
      logger[level](
        {
          request_id: request.id,
          trace_id: request.traceId,
          method: request.method,
          method_as_sent: request.methodAsSent,
          // The route pattern instead of the path, which may contain text of the caller.
          route: (request.route as { path?: string } | undefined)?.path ?? null,
          target: targetsOf(request),
          version: request.version,
          status: response.headersSent ? statusCode : null,
          ms: Math.round(ms * 10) / 10,
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
