import { HttpException } from '@nestjs/common';
import type { Response } from 'express';
import { ApiError, errorThatSaid } from './api-error';
import { codeOfStatus } from './error-codes';
import { sendError, sendOwnError } from './error-response';
import { fromHttpException, isOfNest } from './http-exceptions';

/**
 * What an exception filter of an application replies, with the status of an error: the body that Nest gives an error by
 * default becomes the error envelope, a body of the application's own leaves as it is.
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
