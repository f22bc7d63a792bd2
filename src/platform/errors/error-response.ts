import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Response } from 'express';
import type { ApiError } from './api-error';
import { writeError, writeJson, writeUnasked, type Written } from './error-form';
import { restorePolicy } from '../http/content-policy';
import { toJson } from '../http/json';
import { sendByReplacedMethods, hasReplacedMethods } from '../http/replaced-methods';

const OF_A_SUCCESS = [
  ...['ETag', 'Location', 'Link', 'Last-Modified', 'Content-Encoding', 'Content-Disposition', 'Content-Range'],
  ...['Accept-Ranges', 'Preference-Applied'],
];

/** Responses that are being sent, and will end without further code. */
const complete = new WeakSet<ServerResponse>();

function errorHeaders(error: ApiError, requestId: string, { mediaType }: Written): Record<string, string> {
  return {
    'X-Request-Id': requestId,
    'Content-Type': mediaType,
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    ...error.headers,
  };
}

/** Answers with the error in the form that the caller accepts, unless an answer was sent already. Works on any response of node:http. */
export function sendError(response: ServerResponse, error: ApiError, requestId: string): void {
  if (response.headersSent) return;
  const written = writeError(error, requestId, response.req);
  const headers = errorHeaders(error, requestId, written);
  // A guard may have set the time already.
  if (error.status === 429 && !response.hasHeader('Retry-After')) headers['Retry-After'] ??= '1';
  send(response, error.status, written.text, headers);
}

/** Answers an error with a body of the application's own. */
export function sendOwnError(response: ServerResponse, status: number, body: unknown): void {
  const textType = String(response.getHeader('Content-Type') ?? 'text/plain; charset=utf-8');
  const isText = typeof body === 'string';
  const { mediaType, text } = isText ? { mediaType: textType, text: body } : writeJson(toJson(body), response.req);
  send(response, status, text, { 'Content-Type': mediaType, 'Cache-Control': 'no-store' });
}

function send(response: ServerResponse, status: number, body: string, headers: Record<string, string>): void {
  // Headers that a handler has set for its success don't belong to the error.
  for (const name of OF_A_SUCCESS) response.removeHeader(name);
  restorePolicy(response as Response);
  (response as Response).linkLine = undefined;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  response.statusCode = status;
  endsByItself(response);
  if (hasReplacedMethods(response)) return sendByReplacedMethods(response, body);
  response.setHeader('Content-Length', Buffer.byteLength(body));
  response.end(response.req.method === 'HEAD' ? undefined : body);
}

/**
 * Marks an answer that takes time to send, so that a failure meanwhile, e.g. in middleware after its handler, doesn't
 * cut it off.
 */
export function endsByItself(response: ServerResponse): void {
  complete.add(response);
}

/**
 * Destroys an answer whose handler has failed after its headers were sent, so that the client doesn't take it for
 * complete. An answer that is already complete, or marked by {@link endsByItself}, is left alone.
 */
export function cutOff(response: ServerResponse): void {
  if (response.writableEnded || complete.has(response)) return;
  // Replaced methods may still send what they have ended through a stream of their own.
  if (hasReplacedMethods(response)) response.end();
  else response.destroy();
}

/** The error as the bytes of a whole response, for errors that the HTTP parser finds before there is a request. */
export function rawErrorResponse(error: ApiError, requestId: string): string {
  const written = writeUnasked(error, requestId);
  const { text: body } = written;
  const headers = {
    ...errorHeaders(error, requestId, written),
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\n${lines.join('')}\r\n${body}`;
}
