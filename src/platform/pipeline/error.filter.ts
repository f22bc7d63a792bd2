import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import type { Request, Response } from 'express';
import { kindOf, requestOf } from '../auth/request-of';
import { SecurityEvents } from '../auth/security-events';
import { targetsOf } from '../input/targets';
import type { KeyedAnswer } from '../answers/keyed-answer';
import { replyFirst } from '../answers/reply';
import type { ApiError } from '../errors/api-error';
import { answerError, logError } from '../answers/error-handler';
import { answerElsewhere, isGraphqlError, isTransportException } from '../errors/other-transports';
import { allTaken } from '../errors/database-errors';
import { toApiError } from '../errors/to-api-error';
import { isRefusedWrite } from '../rows/refused-writes';
import '../errors/filtered-errors';

const UNAUTHORIZED = 401;
const FORBIDDEN = 403;

/** Answers everything that is thrown inside Nest with the error envelope. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  constructor(private readonly events: SecurityEvents) {}

  catch(thrown: unknown, host: ArgumentsHost): unknown {
    if (kindOf(host) !== 'http') return this.catchElsewhere(thrown, host);
    const http = host.switchToHttp();
    const request = http.getRequest<Request>();
    const response = http.getResponse<Response>();
    if (request.keyed) return this.catchKeyed(request.keyed, thrown, request, response);
    return this.answer(thrown, request, response);
  }

  private answer(thrown: unknown, request: Request, response: Response): Promise<void> | void {
    if (isRefusedWrite(thrown)) return this.answerTaken(thrown, request, response);
    const error = answerError(thrown, request, response);
    if (isRefusal(error)) this.recordRefusal(error, request);
  }

  private async answerTaken(refusal: Error, request: Request, response: Response): Promise<void> {
    answerError(await allTaken(refusal), request, response);
  }

  private async catchKeyed(keyed: KeyedAnswer, thrown: unknown, request: Request, response: Response): Promise<void> {
    try {
      if (!(await replyFirst(keyed, response))) await this.answer(thrown, request, response);
    } catch (error) {
      await this.answer(error, request, response);
    }
  }

  private catchElsewhere(thrown: unknown, host: ArgumentsHost): unknown {
    const request = requestOf(host);
    const error = toApiError(thrown);
    const isForeseen = isTransportException(thrown) || isGraphqlError(thrown);
    if (error.status >= 500 && !isForeseen) logError(error, request);
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

/** True for 403, and for 401 with a bad or insufficient token. A request without a token is just not signed in. */
function isRefusal({ status, headers }: ApiError): boolean {
  if (status === FORBIDDEN) return true;
  return status === UNAUTHORIZED && (headers['WWW-Authenticate'] ?? '').includes('error=');
}
