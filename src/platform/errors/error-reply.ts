import { HttpException } from '@nestjs/common';
import type { Response } from 'express';
import { ApiError, errorThatSaid } from './api-error';
import { codeOfStatus } from './error-codes';
import { sendError, sendOwnError } from './error-response';
import { fromHttpException, isOfNest } from './http-exceptions';

/**
 * Answers what an exception filter of the application sends with an error status. Nest's default body becomes the error
 * envelope. A body of the application's own is sent unchanged.
 */
export function replyError(response: Response, body: unknown): void {
  const { statusCode: status, req: request } = response;
  if (body instanceof Error) return sendError(response, new ApiError(codeOfStatus(status)), request.id);
  const error = typeof body === 'object' && body !== null ? defaultError(body, status) : undefined;
  if (error) sendError(response, error, request.id);
  else sendOwnError(response, status, body);
}

function defaultError(body: object, status: number): ApiError | undefined {
  const own = errorThatSaid(body);
  if (own?.status === status) return own;
  return isOfNest(body, status) ? fromHttpException(new HttpException(body, status)) : undefined;
}
