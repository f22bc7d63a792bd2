import { HttpStatus, StreamableFile } from '@nestjs/common';
import type { Response } from 'express';
import { replyError } from '../errors/error-reply';
import { endsByItself } from '../errors/error-response';
import { answerOf } from './answer';
import { answerFailure } from './failed-files';
import type { KeyedAnswer } from './keyed-answer';
import { MultiStatus } from './multi-status';
import { send, sendBody } from './send';
import { EventStream, sendEvents } from './send-events';
import { sendExport } from './send-export';
import { unwritable } from './require-json';

const MIN_ERROR = 400;

/**
 * Sends the value of a handler or of an exception filter.
 * @param byNest sends by Nest's own code, e.g. no body or a file
 */
export function reply(response: Response, body: unknown, byNest: () => unknown): unknown {
  const { keyed } = response.req;
  if (body instanceof MultiStatus) response.statusCode = HttpStatus.MULTI_STATUS;
  if (keyed) return replyKeyed(keyed, response, body, byNest);
  return replyOnce(response, body, byNest);
}

function replyOnce(response: Response, body: unknown, byNest: () => unknown): unknown {
  if (body instanceof StreamableFile) {
    endsByItself(response);
    answerFailure(body, response);
  }
  if (body instanceof EventStream) return sendEvents(response, body);
  if (body === undefined || body instanceof StreamableFile) return byNest();
  if (response.statusCode >= MIN_ERROR) return body === null ? byNest() : replyError(response, body);
  const { exported, includes } = response.req;
  if (exported) return caught(sendExport(response, exported, body));
  if (includes && typeof body === 'object' && body !== null) return replyWhole(response, includes.into(body));
  return sendBody(response, body);
}

/** Sends the value of a handler with the rows that the request includes. */
function replyWhole(response: Response, whole: Promise<object>): Promise<void> {
  // The time limit may have answered meanwhile.
  return caught(whole.then((body) => (response.headersSent ? undefined : sendBody(response, body))));
}

/** Nest waits for it and answers an error. Filters that reply something else than the resource don't. */
function caught<T>(sent: Promise<T>): Promise<T> {
  sent.catch(() => undefined);
  return sent;
}

/**
 * Commits the handler's work together with the answer before the answer is sent. Before an error, the work is rolled
 * back.
 */
async function replyKeyed(
  keyed: KeyedAnswer,
  response: Response,
  body: unknown,
  byNest: () => unknown,
): Promise<unknown> {
  const { req: request, statusCode } = response;
  if (!keyed.replayed && statusCode >= MIN_ERROR) {
    await keyed.giveUpSoon();
    return replyOnce(response, body, byNest);
  }
  const answer = await keyed.finish(() => {
    if (body instanceof StreamableFile) {
      throw unwritable(request, 'a file, which is not kept for an Idempotency-Key', 'take @Idempotent() away');
    }
    return answerOf(statusCode, body, request);
  });
  if (!answer) return replyOnce(response, body, byNest);
  // The time limit may have answered meanwhile.
  return response.headersSent ? undefined : send(response, answer);
}

/**
 * Called when an exception filter is about to answer a request with a key. Sends the first answer if the request
 * repeats one. Otherwise rolls the handler's work back.
 * @returns true if an answer was sent
 */
export async function replyFirst(keyed: KeyedAnswer, response: Response): Promise<boolean> {
  const { replayed } = keyed;
  await keyed.giveUpSoon();
  if (!replayed) return false;
  await send(response, replayed);
  return true;
}
