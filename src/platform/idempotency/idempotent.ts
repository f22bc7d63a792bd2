import { applyDecorators, type ExecutionContext, SetMetadata } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { IsolationLevel } from 'typeorm/driver/types/IsolationLevel';
import { isCaller } from '../auth/strategies';
import { validationError } from '../errors/api-error';
import { networkOf } from '../limits/client-network';
import { pathsOf } from '../routing/version';
import { aroundHandler, calledAround } from './around-handler';
import type { IdempotencyKeys, KeyedRequest } from './idempotency-keys';
import { KeyedPost } from './keyed-post';

export const IS_IDEMPOTENT = 'resource-api:idempotent';
/** Metadata key of the reason why a route accepts no key. */
export const NO_KEY = 'resource-api:no-key';
const ISOLATION = 'resource-api:keyed-isolation';
export const KEY_HEADER = 'Idempotency-Key';
const NO_CALLER =
  'A key belongs to a user of this service, and a guard has found somebody else. Have the caller found by @Strategies(), ' +
  'whose validate() answers with a Caller, or take @Idempotent() off the route';
const PRINTABLE = /^[\x20-\x7e]{1,255}$/;

/** Makes a route accept an Idempotency-Key. */
export const Idempotent = (): MethodDecorator => applyDecorators(SetMetadata(IS_IDEMPOTENT, true), calledAround);

/**
 * The isolation level of the transaction of a request with a key. For a route whose handler needs a level, which it
 * can't set inside that transaction.
 */
export const KeyedIsolation = (level: IsolationLevel): MethodDecorator => SetMetadata(ISOLATION, level);

/** Says why a route that creates something accepts no key. */
export const TakesNoKey = (reason: string): MethodDecorator => SetMetadata(NO_KEY, reason);

/** True for a POST with a key. Other methods are idempotent by themselves. */
export function isKeyedPost({ method, headers }: Request): boolean {
  return method === 'POST' && headers[KEY_HEADER.toLowerCase()] !== undefined;
}

/**
 * Answers a repeated request with a key like the first one. The key is claimed, and its transaction begun, when the
 * handler is called: an invalid request is 400, with or without a key. The transaction ends with the final answer,
 * including changes by interceptors.
 * @throws {ApiError} VALIDATION_ERROR for an invalid key
 */
export function expectHandler(context: ExecutionContext, keys: IdempotencyKeys): void {
  const http = context.switchToHttp();
  const request = http.getRequest<Request>();
  const key = keyOf(request);
  const isolation = Reflect.getMetadata(ISOLATION, context.getHandler()) as IsolationLevel | undefined;
  const post = new KeyedPost(
    (work) => keys.once({ ...describe(request, key), isolation }, work),
    http.getResponse<Response>(),
  );
  request.keyed = post;
  aroundHandler(request.work!, (handler) => post.call(handler));
}

function keyOf({ headersDistinct }: Request): string {
  const keys = headersDistinct[KEY_HEADER.toLowerCase()]!;
  if (keys.length === 1 && PRINTABLE.test(keys[0])) return keys[0];
  const message = 'must be one key of 1 to 255 printable ASCII characters';
  throw validationError([{ field: KEY_HEADER, rule: 'key', message }]);
}

function describe(request: Request, key: string): KeyedRequest {
  const { user, ip, method, query, apiRoot, representation, res: response } = request;
  // A preference that was followed makes another request of it.
  const applied = response?.getHeader('Preference-Applied');
  const { inTable: path } = pathsOf(request);
  if (user && !isCaller(user)) throw new Error(NO_CALLER);
  return {
    key,
    // Without an account, the address identifies the caller, for this purpose only.
    scope: user ? `user ${user.id}` : `${ip} ${method} ${path}`,
    caller: user ? `user ${user.id}` : `network ${networkOf(ip)}`,
    content: [method, apiRoot, path, representation?.variant, query, request.body, ...(applied ? [applied] : [])],
  };
}

/** 400 for a key on a route that accepts none. */
export function keyNotTaken(reason?: string) {
  const message = ['is not taken here', reason].filter(Boolean).join(': ');
  return validationError([{ field: KEY_HEADER, rule: 'unknown', message }]);
}
