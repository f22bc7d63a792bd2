import type { Request, Response } from 'express';
import { Page, pageIn } from './page';
import { lineKeysOf } from '../limits/client-network';
import { requireCompared } from './precondition';
import { type Answer, answerOf, BODILESS, headersOf, textTypeFor } from './answer';
import { compress, encodingFor } from '../http/compressed';
import { endWith } from './end-of-turn';
import { encodedTag, entityTagOf, knownTag } from '../http/entity-tag';
import { envelope } from './envelope';
import { toJson } from '../http/json';
import { isLarge, makeItems, making, weightOf } from './large-page';
import { handOver, hasOwnMethods } from '../http/own-methods';
import { takeRoom } from './unread';

/** Where the items of a page stand in its envelope. */
const NO_ITEMS = '"data":[]';

/** Sends a handler's value: in one piece, compressed where it pays, or as 304 when the caller has it already. */
export function sendBody(response: Response, body: unknown): Promise<void> | void {
  const { req: request, statusCode } = response;
  if (typeof body === 'string' && !BODILESS.includes(statusCode)) return sendText(response, body);
  if (typeof body !== 'object' || body === null) return send(response, answerOf(statusCode, body, request));
  const isReading = isRead(request);
  if (!isReading) requireCompared(body, request);
  const page = pageIn(body);
  if (page && isLarge(page)) return sendLargePage(response, page);
  const asks = isReading && request.headers['if-none-match'] !== undefined;
  const tag = asks ? entityTagOf(body, request) : undefined;
  const known = tag === undefined ? undefined : knownTag(tag, request);
  if (known !== undefined) return sendNotModified(response, known);
  return send(response, answerOf(statusCode, page ?? body, request));
}

/** A text as it is. */
function sendText(response: Response, text: string): void {
  if (!response.hasHeader('Content-Type')) response.setHeader('Content-Type', textTypeFor(response.req));
  if (hasOwnMethods(response)) return void response.send(text);
  response.setHeader('Content-Length', Buffer.byteLength(text));
  endWith(response, text);
}

function sendNotModified(response: Response, tag: string): void {
  setCacheControl(response);
  response.setHeader('ETag', tag);
  response.statusCode = 304;
  response.end();
}

/** Holds the room for it from the beginning: its rows take some too, while it waits for its turn. */
function sendLargePage(response: Response, whole: Page<object>): Promise<void> {
  const { req: request, statusCode } = response;
  // Nobody waits for it, and its rows would wait in memory for their turn.
  if (response.closed) return Promise.resolve();
  takeRoom(response, weightOf(whole));
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const make = async () => {
    const { page, items } = await makeItems(whole, () => !response.closed);
    if (response.closed || response.headersSent) return void response.end();
    const text = toJson(envelope(statusCode, new Page([], page.pagination), request));
    const at = text.indexOf(NO_ITEMS) + NO_ITEMS.length - 1;
    const parts = items.flatMap((item, index) => (index === 0 ? [item] : [Buffer.from(','), item]));
    const body = Buffer.concat([Buffer.from(text.slice(0, at)), ...parts, Buffer.from(text.slice(at))]);
    await sendBytes(response, body, headersOf(statusCode, page, page, request));
  };
  return making.run(make, gone.signal, lineKeysOf(request.ip));
}

/** Sends what was made, or kept, as the answer. */
export function send(response: Response, { status, headers, text, tag }: Answer): Promise<void> | void {
  response.statusCode = status;
  if (text !== '') return sendBytes(response, text, headers, tag);
  setCacheControl(response);
  for (const name of Object.keys(headers)) addHeader(response, name, headers[name]);
  response.send();
}

function sendBytes(
  response: Response,
  body: string | Buffer,
  headers: Record<string, string>,
  tag?: string,
): Promise<void> | void {
  const request = response.req;
  const length = Buffer.byteLength(body);
  takeRoom(response, length);
  const isOwn = hasOwnMethods(response);
  const encoding = isOwn ? undefined : encodingFor(request, length);
  setCacheControl(response);
  for (const name of Object.keys(headers)) addHeader(response, name, headers[name]);
  if (tag !== undefined) response.setHeader('ETag', encodedTag(tag, encoding));
  if (isOwn) return handOver(response, body.toString());
  if (!encoding) {
    response.setHeader('Content-Length', length);
    return endWith(response, body);
  }
  response.setHeader('Content-Encoding', encoding);
  // Of a GET that would come compressed nobody knows the length yet (RFC 9110, 8.6).
  if (request.method === 'HEAD') return void response.end();
  return compress(body, encoding).then((bytes) => {
    // The time-out may have answered meanwhile.
    if (response.headersSent) return;
    takeRoom(response, bytes.length);
    response.setHeader('Content-Length', bytes.length);
    endWith(response, bytes);
  });
}

/** Beside what the route says of itself by @Header() or @Deprecated(). */
function addHeader(response: Response, name: string, value: string): void {
  if (name === 'Link' && response.hasHeader(name)) response.appendHeader(name, value);
  else if (!response.hasHeader(name)) response.setHeader(name, value);
}

/**
 * What an identified caller gets is kept by no cache, not even by the one of a browser that others use as well; a client
 * that keeps an entity tag itself still gets its 304. Of the rest nothing is used again without asking.
 */
function setCacheControl(response: Response): void {
  const request = response.req;
  if (response.hasHeader('Cache-Control')) return;
  response.setHeader('Cache-Control', request.user || !isRead(request) ? 'no-store' : 'no-cache');
}

function isRead({ method }: Request): boolean {
  return method === 'GET' || method === 'HEAD';
}
