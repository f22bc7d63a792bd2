import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Request } from 'express';
import { prefersProblem, prefersXml, PROBLEM_TYPE } from '../http/accepted';
import { toJson } from '../http/json';
import { toXml, XML_MEDIA_TYPE } from '../http/xml';
import type { ApiError, FieldViolation } from './api-error';

const JSON_TYPE = 'application/json; charset=utf-8';
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** The body of an answer, and its media type. */
export interface Written {
  mediaType: string;
  text: string;
}

/** The error as the caller's `Accept` asks for it: problem details, or the envelope as JSON or XML (D-244). */
export function writeError(error: ApiError, requestId: string, request: IncomingMessage): Written {
  if (!prefersProblem(request.headers.accept)) return writeJson(errorBody(error, requestId), request);
  return { mediaType: PROBLEM_TYPE, text: problemOf(error, requestId) };
}

/** A JSON text in the caller's representation. */
export function writeJson(json: string, request: IncomingMessage): Written {
  const { representation } = request as Partial<Request>;
  const isXml = representation ? representation.isXml : prefersXml(request);
  const mediaType = representation?.mediaType ?? (isXml ? XML_MEDIA_TYPE : JSON_TYPE);
  return { mediaType, text: isXml ? toXml(json) : json };
}

/** The error as JSON for a caller whose request isn't known. */
export const writeUnasked = (error: ApiError, requestId: string): Written => ({
  mediaType: JSON_TYPE,
  text: errorBody(error, requestId),
});

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

/** The error envelope (variant B). */
export function errorBody(error: ApiError, requestId: string): string {
  return toJson({ error: toldOf(error, requestId) });
}

/** Problem details (RFC 9457) with the same `code`, `fields` and `timestamp` as the envelope. */
function problemOf(error: ApiError, requestId: string): string {
  const { code, details, timestamp, fields } = toldOf(error, requestId);
  return toJson({
    // The status and `code` tell the kind. With this type the title is the phrase of the status (RFC 9457, 4.2.1).
    type: 'about:blank',
    title: STATUS_CODES[error.status] ?? error.message,
    status: error.status,
    detail: details,
    // The caller may have chosen another id, which is no URI.
    ...(UUID.test(requestId) && { instance: `urn:uuid:${requestId}` }),
    code,
    timestamp,
    ...(fields && { fields }),
  });
}

/** With a 5xx status the details only name the request id. */
function toldOf(error: ApiError, requestId: string): ErrorDescription {
  const known = errorDescription(error);
  return error.status >= 500 ? { ...known, details: `Request ${requestId}` } : known;
}
