import { type ArgumentsHost, Catch, type ExceptionFilter, Logger } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { kindOf, requestOf } from '../../auth/request-of';
import { SecurityEvents } from '../../auth/security-events';
import { targetsOf } from '../requests/targets';
import type { ApiError } from './api-error';
import { sendError } from './error-response';
import { answerElsewhere, isGraphqlError, isTransportException } from './other-transports';
import { toApiError } from './to-api-error';
import { methodsOf } from './unknown-route';
import '../requests/request-context';

const UNAUTHORIZED = 401;
const FORBIDDEN = 403;

const logger = new Logger('Error');

/** Everything thrown inside Nest becomes the error envelope. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  constructor(private readonly events: SecurityEvents) {}

  catch(thrown: unknown, host: ArgumentsHost): unknown {
    if (kindOf(host) !== 'http') return this.catchElsewhere(thrown, host);
    const http = host.switchToHttp();
    const request = http.getRequest<Request>();
    const error = answerError(thrown, request, http.getResponse<Response>());
    if (isRefusal(error)) this.recordRefusal(error, request);
    return undefined;
  }

  private catchElsewhere(thrown: unknown, host: ArgumentsHost): unknown {
    const request = requestOf(host);
    const error = toApiError(thrown);
    const isForeseen = isTransportException(thrown) || isGraphqlError(thrown);
    if (error.status >= 500 && !isForeseen) log(error, request?.id);
    if (isRefusal(error)) {
      const what = { status: error.status, method: kindOf(host), route: null, user_id: request?.user?.id };
      this.events.record('authz_fail', { outcome: 'failure', ...what }, request?.id ? request : undefined);
    }
    return answerElsewhere(thrown, error, host);
  }

  private recordRefusal({ status }: ApiError, request: Request): void {
    const { path = null } = (request.route ?? {}) as { path?: string | null };
    const what = { status, method: request.method, route: path, target: targetsOf(request) };
    this.events.record('authz_fail', { outcome: 'failure', ...what }, request);
  }
}

/** Nobody may do it, or nobody with such a token. Somebody without a token has just not signed in. */
function isRefusal({ status, headers }: ApiError): boolean {
  if (status === FORBIDDEN) return true;
  return status === UNAUTHORIZED && (headers['WWW-Authenticate'] ?? '').includes('error=');
}

/** The same for what middleware and Express's router throw. */
export function errorHandler(thrown: unknown, request: Request, response: Response, _next: NextFunction): void {
  answerError(thrown, request, response);
}

function answerError(thrown: unknown, request: Request, response: Response): ApiError {
  const error = toApiError(thrown);
  // RFC 9110, 15.5.6. A handler that throws it says only what it doesn't take.
  if (error.status === 405) error.headers.Allow ??= methodsOf(request.app, request.path).join(', ');
  // Nothing has failed when what nobody waits for was ended.
  const wasEnded = response.closed && error.code === 'SERVICE_UNAVAILABLE';
  if (error.status >= 500 && !wasEnded) log(error, request.id);
  sendError(response, error, request.id);
  return error;
}

function log(error: ApiError, requestId: string | undefined): void {
  logger.error({ err: error.cause ?? error, request_id: requestId }, error.message);
}
