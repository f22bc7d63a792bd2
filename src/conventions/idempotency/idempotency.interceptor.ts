import {
  applyDecorators,
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  SetMetadata,
  UseInterceptors,
} from '@nestjs/common';
import { normalizeIp } from '@nestjs/throttler';
import type { Request, Response } from 'express';
import { from, lastValueFrom, type Observable } from 'rxjs';
import type { IsolationLevel } from 'typeorm/driver/types/IsolationLevel';
import { validationError } from '../errors/api-error';
import { type Answer, answerOf } from '../responses/answer';
import { aroundHandler, calledAround } from './around-handler';
import { IdempotencyKeys, type KeyedRequest } from './idempotency-keys';

export const IS_IDEMPOTENT = 'resource-api:idempotent';
/** Why a route takes no key. */
export const NO_KEY = 'resource-api:no-key';
const ISOLATION = 'resource-api:keyed-isolation';
export const KEY_HEADER = 'Idempotency-Key';
const PRINTABLE = /^[\x20-\x7e]{1,255}$/;

/** Answers a request with a key that came before as it was answered then. */
@Injectable()
export class IdempotencyInterceptor implements NestInterceptor {
  constructor(private readonly keys: IdempotencyKeys) {}

  intercept(context: ExecutionContext, next: CallHandler<object>): Observable<unknown> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    const key = keyOf(request);
    if (key === undefined) return next.handle();
    const isolation = Reflect.getMetadata(ISOLATION, context.getHandler()) as IsolationLevel | undefined;
    return from(this.answerOnce({ ...describe(request, key), isolation }, request, http.getResponse<Response>(), next));
  }

  /**
   * The key is claimed, and its transaction begun, where the handler is called: what is not valid is 400, with a key or
   * without one. The transaction ends with the answer that the interceptors behind this one have made of the handler's.
   */
  private async answerOnce(
    keyed: KeyedRequest,
    request: Request,
    response: Response,
    next: CallHandler<object>,
  ): Promise<unknown> {
    let attempt: Promise<Answer> | undefined;
    aroundHandler(request.work!, (handler) => {
      return new Promise((handled, notHandled) => {
        attempt = this.keys.once(keyed, () => {
          handled(handler());
          return answer;
        });
        attempt.then(() => notHandled(new AnsweredBefore()), notHandled);
      });
    });
    const value = lastValueFrom(next.handle());
    const answer = value.then((body) => answerOf(response.statusCode, body, request));
    await Promise.allSettled([answer]);
    // Without an attempt the handler was not called: it is what a pipe or an interceptor says instead.
    return attempt ?? value;
  }
}

/** Takes the place of a handler's value that nobody is going to send. */
class AnsweredBefore extends Error {}

/** Takes an Idempotency-Key. On the route alone: a global interceptor would cost every other route a fifth. */
export const Idempotent = (): MethodDecorator =>
  applyDecorators(SetMetadata(IS_IDEMPOTENT, true), UseInterceptors(IdempotencyInterceptor), calledAround);

function keyOf({ headersDistinct }: Request): string | undefined {
  const keys = headersDistinct[KEY_HEADER.toLowerCase()];
  if (keys === undefined) return undefined;
  if (keys.length === 1 && PRINTABLE.test(keys[0])) return keys[0];
  const message = 'must be one key of 1 to 255 printable ASCII characters';
  throw validationError([{ field: KEY_HEADER, rule: 'key', message }]);
}

function describe(request: Request, key: string): KeyedRequest {
  const { user, ip, method, path, query, apiRoot, representation } = request;
  return {
    key,
    // Who has no account has an address, and only for this.
    scope: user ? `user ${user.id}` : `${ip} ${method} ${path}`,
    caller: user ? `user ${user.id}` : `network ${normalizeIp(ip ?? '')}`,
    content: [method, apiRoot, path, representation?.variant, query, request.body],
  };
}

/**
 * The isolation level of the one transaction that a request with a key is: for a route whose handler asks for one, which
 * can't be begun inside of it.
 */
export const KeyedIsolation = (level: IsolationLevel): MethodDecorator => SetMetadata(ISOLATION, level);

/** Why a route that creates something takes no key. */
export const TakesNoKey = (reason: string): MethodDecorator => SetMetadata(NO_KEY, reason);

/** 400 for a key on a route that takes none. */
export function keyNotTaken(reason?: string) {
  const message = ['is not taken here', reason].filter(Boolean).join(': ');
  return validationError([{ field: KEY_HEADER, rule: 'unknown', message }]);
}
