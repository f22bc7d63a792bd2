import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Request } from 'express';
import type { ApiError, FieldViolation } from './api-error';
import { toJson } from '../http/json';
import { sendByReplacedMethods, hasReplacedMethods } from '../http/replaced-methods';

const JSON_TYPE = 'application/json; charset=utf-8';
const OF_A_SUCCESS = [
  ...['ETag', 'Location', 'Link', 'Last-Modified', 'Content-Encoding', 'Content-Disposition', 'Content-Range'],
  ...['Accept-Ranges', 'Content-Security-Policy', 'Preference-Applied'],
];

/** Responses that are being sent, and will end without further code. */
const complete = new WeakSet<ServerResponse>();

/** What a caller learns of an error. */
export interface ErrorDescription {
  code: string;
  message: string;
  details: string;
  /** ISO 8601 in UTC. */
  timestamp: string;
  fields?: FieldViolation[];
}

export function errorDescription({ code, message, details, fields }: ApiError): ErrorDescription {
  return { code, message, details, timestamp: new Date().toISOString(), ...(fields && { fields }) };
}

/** The error envelope (variant B). With a 5xx status its details only name the request id. */
export function errorBody(error: ApiError, requestId: string): string {
  const known = errorDescription(error);
  return toJson({ error: error.status >= 500 ? { ...known, details: `Request ${requestId}` } : known });
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

/** Answers with the error envelope, unless an answer was sent already. Works on any response of node:http. */
export function sendError(response: ServerResponse, error: ApiError, requestId: string): void {
  if (response.headersSent) return;
  const headers: Record<string, string> = { ...errorHeaders(error, requestId), 'Content-Type': jsonTypeFor(response) };
  // A guard may have set the time already.
  if (error.status === 429 && !response.hasHeader('Retry-After')) headers['Retry-After'] ??= '1';
  send(response, error.status, errorBody(error, requestId), headers);
}

/** Answers an error with a body of the application's own. */
export function sendOwnError(response: ServerResponse, status: number, body: unknown): void {
  const text = typeof body === 'string' ? body : toJson(body);
  const textType = String(response.getHeader('Content-Type') ?? 'text/plain; charset=utf-8');
  const type = typeof body === 'string' ? textType : jsonTypeFor(response);
  send(response, status, text, { 'Content-Type': type, 'Cache-Control': 'no-store' });
}

/** A caller that asks for a version by its media type gets errors in that type too. */
function jsonTypeFor({ req }: ServerResponse): string {
  return (req as Partial<Request>).representation?.mediaType ?? JSON_TYPE;
}

function send(response: ServerResponse, status: number, body: string, headers: Record<string, string>): void {
  // Headers that a handler has set for its success don't belong to the error.
  for (const name of OF_A_SUCCESS) response.removeHeader(name);
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
  const body = errorBody(error, requestId);
  const headers = { ...errorHeaders(error, requestId), 'Content-Length': Buffer.byteLength(body), Connection: 'close' };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\n${lines.join('')}\r\n${body}`;
}
