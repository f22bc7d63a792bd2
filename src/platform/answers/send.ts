import type { Response } from 'express';
import { Page, pageIn } from './page';
import { queueKeysOf } from '../limits/client-network';
import { requireCompared } from './precondition';
import { type Answer, answerOf, BODILESS, headersOf, textTypeFor } from './answer';
import { compressInTurn } from './compress-in-turn';
import { compress, compressSmall, type Encoding, encodingFor } from '../http/compressed';
import { endWith } from './end-of-turn';
import { encodedTag, entityTagOf, knownTag } from '../http/entity-tag';
import { envelope } from './envelope';
import { isRead } from '../http/is-read';
import { toJson } from '../http/json';
import { pageFormFor, writesXml, writtenFor } from './written';
import { isLarge, makeItems, making, weightOf } from './large-page';
import { leavePlace, makeInPlace } from './page-place';
import { linkLineOf } from './resource-links';
import { sendByReplacedMethods, hasReplacedMethods } from '../http/replaced-methods';
import { reserveMemory } from './unread-answers';

/** Sends the value of a handler: in one piece, compressed if that pays, or as 304 if the caller's copy is current. */
export function sendBody(response: Response, body: unknown): Promise<void> | void {
  const { req: request, statusCode } = response;
  if (typeof body === 'string' && !BODILESS.includes(statusCode)) return sendText(response, body);
  if (typeof body !== 'object' || body === null) return send(response, answerOf(statusCode, body, request));
  const isReading = isRead(request);
  if (!isReading) requireCompared(body, request);
  const page = pageIn(body);
  if (page && isLarge(page, writesXml(response))) return sendLargePage(response, page);
  const asks = isReading && request.headers['if-none-match'] !== undefined;
  const tag = asks ? entityTagOf(body, request) : undefined;
  const known = tag === undefined ? undefined : knownTag(tag, request);
  if (known !== undefined) return sendNotModified(response, known);
  const answer = answerOf(statusCode, page ?? body, request);
  leavePlace(response);
  return send(response, answer);
}

/** Sends a text without the envelope. */
function sendText(response: Response, text: string): void {
  leavePlace(response);
  if (!response.hasHeader('Content-Type')) response.setHeader('Content-Type', textTypeFor(response.req));
  if (hasReplacedMethods(response)) return void response.send(text);
  response.setHeader('Content-Length', Buffer.byteLength(text));
  endWith(response, text);
}

function sendNotModified(response: Response, tag: string): void {
  setCacheControl(response);
  response.setHeader('ETag', tag);
  response.statusCode = 304;
  response.end();
}

/** Sends a large page. Its rows are in memory, so that is reserved, even if the page has yet to wait for its turn. */
function sendLargePage(response: Response, whole: Page<object>): Promise<void> {
  const { req: request, statusCode } = response;
  // The client has gone. The rows would only wait in memory.
  if (response.closed) return Promise.resolve();
  reserveMemory(response, weightOf(whole));
  const make = async () => {
    const form = pageFormFor(response);
    const { page, items } = await makeItems(whole, () => !response.closed, form.item);
    if (response.closed || response.headersSent) return void response.end();
    const text = form.envelope(toJson(envelope(statusCode, new Page([], page.pagination), request)));
    const at = text.indexOf(form.noItems) + form.noItems.length - form.end;
    const parts = items.flatMap((item, index) => (index === 0 ? [item] : [form.separator, item]));
    const body = Buffer.concat([Buffer.from(text.slice(0, at)), ...parts, Buffer.from(text.slice(at))]);
    // Whoever makes a page waits for nobody: all other large pages wait for it.
    const now: Compress = (_response, ...compressed) => compress(...compressed);
    await sendBytes(response, body, headersOf(statusCode, page, page, request), undefined, now);
  };
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  return makeInPlace(response, () => making.run(make, gone.signal, queueKeysOf(request.ip)));
}

/** Sends an answer that was just made, or stored for an idempotency key. */
export function send(response: Response, answer: Answer): Promise<void> | void {
  const { status, headers, text, tag } = answer;
  response.statusCode = status;
  if (text !== '') {
    // A page has its links among its headers.
    if (headers.Link === undefined) response.linkLine = linkLineOf(response.req, headers.Location);
    return sendBytes(response, writtenFor(response, answer), headers, tag);
  }
  setCacheControl(response);
  for (const name of Object.keys(headers)) addHeader(response, name, headers[name]);
  response.send();
}

type Compress = typeof compressInTurn;

function sendBytes(
  response: Response,
  body: string | Buffer,
  headers: Record<string, string>,
  tag?: string,
  compressed: Compress = compressInTurn,
): Promise<void> | void {
  const request = response.req;
  const length = Buffer.byteLength(body);
  reserveMemory(response, length);
  const isOwn = hasReplacedMethods(response);
  const encoding = isOwn ? undefined : encodingFor(request, length);
  setCacheControl(response);
  for (const name of Object.keys(headers)) addHeader(response, name, headers[name]);
  if (isOwn) {
    setEncoding(response, undefined, tag);
    return sendByReplacedMethods(response, body.toString());
  }
  if (!encoding) return sendEncoded(response, body, length, tag);
  if (request.method === 'HEAD') {
    setEncoding(response, encoding, tag);
    // A HEAD request can't tell the length of a compressed answer (RFC 9110, 8.6).
    return void response.end();
  }
  const small = compressSmall(body, encoding, length);
  if (small) return sendEncoded(response, small, small.length, tag, encoding);
  return compressed(response, body, encoding, length).then((bytes) => {
    // The time limit may have answered meanwhile.
    if (response.headersSent || response.closed) return;
    if (!bytes) return sendEncoded(response, body, length, tag);
    reserveMemory(response, bytes.length);
    sendEncoded(response, bytes, bytes.length, tag, encoding);
  });
}

function sendEncoded(
  response: Response,
  body: string | Buffer,
  length: number,
  tag: string | undefined,
  encoding?: Encoding,
): void {
  setEncoding(response, encoding, tag);
  response.setHeader('Content-Length', length);
  endWith(response, body);
}

function setEncoding(response: Response, encoding: Encoding | undefined, tag: string | undefined): void {
  if (tag !== undefined) response.setHeader('ETag', encodedTag(tag, encoding));
  if (encoding) response.setHeader('Content-Encoding', encoding);
}

/** Headers that the route sets by @Header() or @Deprecated() take precedence; links are added to. */
function addHeader(response: Response, name: string, value: string): void {
  if (name === 'Link' && response.hasHeader(name)) response.appendHeader(name, value);
  else if (!response.hasHeader(name)) response.setHeader(name, value);
}

/**
 * An answer to an identified caller is `no-store`: a shared browser must not cache it. A client that stores the entity
 * tag itself still gets 304. Other answers are revalidated before reuse.
 */
function setCacheControl(response: Response): void {
  const request = response.req;
  if (response.hasHeader('Cache-Control')) return;
  response.setHeader('Cache-Control', request.user || !isRead(request) ? 'no-store' : 'no-cache');
}
