import type { Request, Response } from 'express';
import { Page, pageLinks } from '../lists/page';
import { requireCompared } from '../requests/precondition';
import { compress, encodingFor } from './compressed';
import { endWith } from './end-of-turn';
import { encodedTag, entityTagOf, knownTag } from './entity-tag';
import { envelope, locationOf } from './envelope';
import { toJson } from './json';
import '../requests/request-context';

const JSON_TYPE = 'application/json; charset=utf-8';

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
  const headers: Record<string, string> = { 'Content-Type': request.representation?.mediaType ?? JSON_TYPE };
  if (status === 201) headers.Location = locationOf(body, request);
  if (body instanceof Page) headers.Link = pageLinks(body.pagination, request);
  return new Answer(status, headers, toJson(envelope(status, body, request)), entityTagOf(body, request));
}

/** Sends a handler's value: in one piece, compressed where it pays, or as 304 when the caller has it already. */
export function sendBody(response: Response, body: object): void {
  const request = response.req;
  if (body instanceof Answer) return sendAnswer(response, body);
  const isReading = isRead(request);
  if (!isReading) requireCompared(body, request);
  const asks = isReading && request.headers['if-none-match'] !== undefined;
  const tag = asks ? entityTagOf(body, request) : undefined;
  const known = tag === undefined ? undefined : knownTag(tag, request);
  if (known !== undefined) return sendNotModified(response, known);
  sendAnswer(response, answerOf(response.statusCode, body, request));
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

function sendAnswer(response: Response, { status, headers, text, tag }: Answer): void {
  const request = response.req;
  const length = Buffer.byteLength(text);
  const encoding = encodingFor(request, length);
  response.statusCode = status;
  setCacheControl(response);
  for (const name of Object.keys(headers)) addHeader(response, name, headers[name]);
  if (tag !== undefined) response.setHeader('ETag', encodedTag(tag, encoding));
  if (!encoding) {
    response.setHeader('Content-Length', length);
    return endWith(response, text);
  }
  response.setHeader('Content-Encoding', encoding);
  // Of a GET that would come compressed nobody knows the length yet (RFC 9110, 8.6).
  if (request.method === 'HEAD') return void response.end();
  void compress(text, encoding).then((bytes) => {
    // The time-out may have answered meanwhile.
    if (response.headersSent) return;
    response.setHeader('Content-Length', bytes.length);
    response.end(bytes);
  });
}

/** Beside what the route says of itself by @Header() or @Deprecated(). */
function addHeader(response: Response, name: string, value: string): void {
  if (name === 'Link' && response.hasHeader(name)) response.appendHeader(name, value);
  else if (!response.hasHeader(name)) response.setHeader(name, value);
}

/** What depends on who asks is never stored by a cache that others share; nothing is used again without asking. */
function setCacheControl(response: Response): void {
  const request = response.req;
  if (response.hasHeader('Cache-Control')) return;
  if (!isRead(request)) response.setHeader('Cache-Control', 'no-store');
  else response.setHeader('Cache-Control', request.user ? 'private, no-cache' : 'no-cache');
}

function isRead({ method }: Request): boolean {
  return method === 'GET' || method === 'HEAD';
}
