import { Logger } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import type { ApiError } from '../errors/api-error';
import { cutOff, sendError } from '../errors/error-response';
import { toApiError } from '../errors/to-api-error';
import { methodsOf } from '../routing/unknown-route';

const logger = new Logger('Error');

/** Answers errors of middleware and of Express's router like the error filter answers errors of Nest's handlers. */
export function errorHandler(thrown: unknown, request: Request, response: Response, _next: NextFunction): void {
  answerError(thrown, request, response);
}

/** Answers with the error envelope, and logs errors of the service. */
export function answerError(thrown: unknown, request: Request, response: Response): ApiError {
  const error = toApiError(thrown);
  // RFC 9110, 15.5.6 requires `Allow`. A handler that throws 405 doesn't know the methods of its path.
  if (error.status === 405) error.headers.Allow ??= methodsOf(request).join(', ');
  // If the client has gone, an error that results from ending its work isn't a failure.
  const wasEnded = response.closed && (error.code === 'SERVICE_UNAVAILABLE' || isCutOff(request));
  if (error.status >= 500 && !wasEnded) logError(error, request);
  if (response.headersSent) cutOff(response);
  else sendError(response, error, request.id);
  return error;
}

/**
 * True if the client left before its body had arrived. Whatever was reading the body throws an error of its own then.
 */
const isCutOff = ({ complete, destroyed }: Request): boolean => destroyed && !complete;

export function logError(error: ApiError, { id, traceId }: Partial<Request> = {}): void {
  logger.error({ err: error.cause ?? error, request_id: id, trace_id: traceId }, error.message);
}
