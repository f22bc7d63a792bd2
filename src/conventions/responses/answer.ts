import type { Request, Response } from 'express';
import { Page, pageLinks } from '../lists/page';
import { requireCompared } from '../requests/precondition';
import { compress, encodingFor } from './compressed';
import { endWith } from './end-of-turn';
import { encodedTag, entityTagOf, knownTag } from './entity-tag';
import { envelope, locationOf } from './envelope';
import { toJson } from './json';
import { isLarge, makeItems, making, weightOf } from './large-page';
import { takeRoom } from './unread';
import '../requests/request-context';

const JSON_TYPE = 'application/json; charset=utf-8';
/** Where the items of a page stand in its envelope. */
const NO_ITEMS = '"data":[]';

/** A success as it leaves, but for what depends on the connection and the moment. */
export class Answer {
  constructor(
    readonly status: number,
    readonly headers: Record<string, string>,
    /** The whole body. */
    readonly text: string,
    /** The entity tag, without its quotes. */
    readonly tag?: string,
  ) {}
}

/** What a handler's value, sent with this status, becomes. */
export function answerOf(status: number, body: object, request: Request): Answer {
  const headers = headersOf(status, body, request);
  return new Answer(status, headers, toJson(envelope(status, body, request)), entityTagOf(body, request));
}

function headersOf(status: number, body: object, request: Request): Record<string, string> {
  const headers: Record<string, string> = { 'Content-Type': request.representation?.mediaType ?? JSON_TYPE };
  if (status === 201) headers.Location = locationOf(body, request);
  if (isPage(body)) headers.Link = pageLinks(body.pagination, request);
  return headers;
}

/** Sends a handler's value: in one piece, compressed where it pays, or as 304 when the caller has it already. */
export function sendBody(response: Response, body: object): Promise<void> | void {
  const request = response.req;
  if (body instanceof Answer) return sendAnswer(response, body);
  const isReading = isRead(request);
  if (!isReading) requireCompared(body, request);
  if (isPage(body) && isLarge(body)) return sendLargePage(response, body);
  const asks = isReading && request.headers['if-none-match'] !== undefined;
  const tag = asks ? entityTagOf(body, request) : undefined;
  const known = tag === undefined ? undefined : knownTag(tag, request);
  if (known !== undefined) return sendNotModified(response, known);
  return sendAnswer(response, answerOf(response.statusCode, body, request));
}

/** A text as it is; its route says of which type. */
export function sendText(response: Response, text: string): void {
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
  return making.run(async () => {
    const { page, items } = await makeItems(whole, () => !response.closed);
    if (response.closed || response.headersSent) return void response.end();
    const text = toJson(envelope(statusCode, new Page([], page.pagination), request));
    const at = text.indexOf(NO_ITEMS) + NO_ITEMS.length - 1;
    const parts = items.flatMap((item, index) => (index === 0 ? [item] : [Buffer.from(','), item]));
    const body = Buffer.concat([Buffer.from(text.slice(0, at)), ...parts, Buffer.from(text.slice(at))]);
    await sendBytes(response, body, headersOf(statusCode, page, request));
  }, gone.signal);
}

function sendAnswer(response: Response, { status, headers, text, tag }: Answer): Promise<void> | void {
  response.statusCode = status;
  return sendBytes(response, text, headers, tag);
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
  const encoding = encodingFor(request, length);
  setCacheControl(response);
  for (const name of Object.keys(headers)) addHeader(response, name, headers[name]);
  if (tag !== undefined) response.setHeader('ETag', encodedTag(tag, encoding));
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

function isPage(body: object): body is Page<object> {
  return body instanceof Page;
}

function isRead({ method }: Request): boolean {
  return method === 'GET' || method === 'HEAD';
}
