import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Request } from 'express';
import { type ApiError } from './api-error';
import { toJson } from '../http/json';
import { handOver, hasOwnMethods } from '../http/own-methods';

const JSON_TYPE = 'application/json; charset=utf-8';
const OF_A_SUCCESS = [
  ...['ETag', 'Location', 'Link', 'Last-Modified', 'Content-Encoding', 'Content-Disposition', 'Content-Range'],
  ...['Accept-Ranges', 'Content-Security-Policy'],
];

/** Those whose answer comes to its end by itself. */
const complete = new WeakSet<ServerResponse>();

/** The error envelope (variant B). For a 5xx it names the request id and nothing else. */
export function errorBody(error: ApiError, requestId: string): string {
  return toJson({
    error: {
      code: error.code,
      message: error.message,
      details: error.status >= 500 ? `Request ${requestId}` : error.details,
      timestamp: new Date().toISOString(),
      ...(error.fields && { fields: error.fields }),
    },
  });
}

function errorHeaders(error: ApiError, requestId: string): Record<string, string> {
  return {
    'X-Request-Id': requestId,
    'Content-Type': JSON_TYPE,
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    ...error.headers,
  };
}

/** Answers with the envelope, unless something was answered already. Works on any response of node:http. */
export function sendError(response: ServerResponse, error: ApiError, requestId: string): void {
  if (response.headersSent) return;
  const headers: Record<string, string> = { ...errorHeaders(error, requestId), 'Content-Type': jsonTypeFor(response) };
  // A guard may have said already how long to wait.
  if (error.status === 429 && !response.hasHeader('Retry-After')) headers['Retry-After'] ??= '1';
  send(response, error.status, errorBody(error, requestId), headers);
}

/** Answers an error with a body of an application's own, as it is. */
export function sendOwnError(response: ServerResponse, status: number, body: unknown): void {
  const text = typeof body === 'string' ? body : toJson(body);
  const textType = String(response.getHeader('Content-Type') ?? 'text/plain; charset=utf-8');
  const type = typeof body === 'string' ? textType : jsonTypeFor(response);
  send(response, status, text, { 'Content-Type': type, 'Cache-Control': 'no-store' });
}

/** Who asks for a version by its media type gets that for a failure too. */
function jsonTypeFor({ req }: ServerResponse): string {
  return (req as Partial<Request>).representation?.mediaType ?? JSON_TYPE;
}

function send(response: ServerResponse, status: number, body: string, headers: Record<string, string>): void {
  // What a handler had prepared for its success does not belong to the failure.
  for (const name of OF_A_SUCCESS) response.removeHeader(name);
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  response.statusCode = status;
  endsByItself(response);
  if (hasOwnMethods(response)) return handOver(response, body);
  response.setHeader('Content-Length', Buffer.byteLength(body));
  response.end(response.req.method === 'HEAD' ? undefined : body);
}

/** Says of an answer that takes its time that nothing which fails meanwhile is about it, as middleware behind its handler. */
export function endsByItself(response: ServerResponse): void {
  complete.add(response);
}

/**
 * Ends an answer in whose midst its handler has failed, so that nobody waits for the rest of it nor takes it for whole.
 * An error of the time-out's, say, or what a handler has returned is still on its way, and is left alone.
 */
export function cutOff(response: ServerResponse): void {
  if (response.writableEnded || complete.has(response)) return;
  // What such methods have ended may be on its way through a stream of theirs.
  if (hasOwnMethods(response)) response.end();
  else response.destroy();
}

/** The same as the bytes of a whole response, for errors that the HTTP parser finds before there is a request. */
export function rawErrorResponse(error: ApiError, requestId: string): string {
  const body = errorBody(error, requestId);
  const headers = { ...errorHeaders(error, requestId), 'Content-Length': Buffer.byteLength(body), Connection: 'close' };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\n${lines.join('')}\r\n${body}`;
}
