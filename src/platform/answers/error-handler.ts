import { Logger } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import type { ApiError } from '../errors/api-error';
import { cutOff, sendError } from '../errors/error-response';
import { toApiError } from '../errors/to-api-error';
import { methodsOf } from '../routing/unknown-route';

const logger = new Logger('Error');

/** Answers what middleware and Express's router throw, as the error filter answers what Nest's handlers throw. */
export function errorHandler(thrown: unknown, request: Request, response: Response, _next: NextFunction): void {
  answerError(thrown, request, response);
}

/** Answers with the error envelope, and logs what is no fault of the caller's. */
export function answerError(thrown: unknown, request: Request, response: Response): ApiError {
  const error = toApiError(thrown);
  // RFC 9110, 15.5.6. A handler that throws it says only what it doesn't take.
  if (error.status === 405) error.headers.Allow ??= methodsOf(request).join(', ');
  // Nothing has failed when what nobody waits for was ended.
  const wasEnded = response.closed && (error.code === 'SERVICE_UNAVAILABLE' || isCutOff(request));
  if (error.status >= 500 && !wasEnded) logError(error, request.id);
  if (response.headersSent) cutOff(response);
  else sendError(response, error, request.id);
  return error;
}

/** Whether the rest of its body never came: whoever was reading it says so in words of its own. */
const isCutOff = ({ complete, destroyed }: Request): boolean => destroyed && !complete;

export function logError(error: ApiError, requestId: string | undefined): void {
  logger.error({ err: error.cause ?? error, request_id: requestId }, error.message);
}
