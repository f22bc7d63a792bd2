import { type ArgumentsHost, Catch, type ExceptionFilter, Logger } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { sendError } from './error-response';
import { toApiError } from './to-api-error';
import '../requests/request-context';

const logger = new Logger('Error');

/** Everything thrown inside Nest becomes the error envelope. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    answerError(thrown, http.getRequest<Request>(), http.getResponse<Response>());
  }
}

/** The same for what middleware and Express's router throw. */
export function errorHandler(thrown: unknown, request: Request, response: Response, _next: NextFunction): void {
  answerError(thrown, request, response);
}

function answerError(thrown: unknown, request: Request, response: Response): void {
  const error = toApiError(thrown);
  if (error.status >= 500) logger.error({ err: error.cause ?? error, request_id: request.id }, error.message);
  sendError(response, error, request.id);
}
