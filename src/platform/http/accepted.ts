import type { IncomingMessage } from 'node:http';
import type { Request } from 'express';
import { XML_TYPES } from './xml';

/** The greatest length of `Accept`, many times what clients send: negotiation compares each range with each. */
export const MAX_ACCEPT = 2_048;
export const PROBLEM_TYPE = 'application/problem+json';

const JSON_TYPE = 'application/json';
/** Ranges of what an error is sent in if it isn't a problem. */
const ENVELOPES = /^(?:application\/(?:json|vnd\.api\+json|xml|\*)|text\/(?:xml|\*)|\*\/\*)$/;
const QUALITY = /;\s*q\s*=\s*"?([\d.]+)/i;

/**
 * False for a browser: it names `application/xml` for documents of XHTML, before it names everything. It gets JSON if it
 * accepts JSON, like any client without a preference.
 */
export const mayMeanXml = (accept: string): boolean => !/text\/html/i.test(accept);

/** True if a caller for whom no representation was chosen prefers XML to JSON. */
export function prefersXml(request: IncomingMessage): boolean {
  const { accept } = request.headers;
  const { accepts } = request as Partial<Request>;
  // Express has not seen each request, e.g. not one whose body is malformed while it waits.
  if (!accept || accept.length > MAX_ACCEPT || !accepts || !/xml/i.test(accept)) return false;
  if (!mayMeanXml(accept) && (request as Request).accepts(JSON_TYPE)) return false;
  const chosen = (request as Request).accepts([JSON_TYPE, ...XML_TYPES]);
  return (XML_TYPES as readonly unknown[]).includes(chosen);
}

/**
 * True if the caller names problem details (RFC 9457), and no other form of an error with a greater weight. Their order
 * says nothing (RFC 9110, 12.5.1).
 */
export function prefersProblem(accept: string | undefined): boolean {
  if (!accept || accept.length > MAX_ACCEPT || !/problem/i.test(accept)) return false;
  const ranges = accept.split(',').map((range) => ({ type: range.split(';', 1)[0].trim().toLowerCase(), range }));
  const best = (isMeant: (type: string) => boolean) =>
    Math.max(0, ...ranges.filter(({ type }) => isMeant(type)).map(({ range }) => qualityOf(range)));
  const problem = best((type) => type === PROBLEM_TYPE);
  return problem > 0 && problem >= best((type) => ENVELOPES.test(type));
}

const qualityOf = (range: string): number => Number(QUALITY.exec(range)?.[1] ?? 1);
