import type { NextFunction, Request, Response } from 'express';
import { ApiError, validationError } from '../errors/api-error';
import { MAX_ACCEPT } from '../http/accepted';

/**
 * Headers that a request may have once (RFC 9110, 5.3). Node silently takes the first. A proxy that takes the last
 * would let requests pass that this service refuses. Node joins other repeated headers to a list, which the service
 * doesn't accept.
 */
const SINGLE = ['Host', 'Content-Type'];
const SINGLE_NAMES = SINGLE.map((name) => name.toLowerCase());
const SINGLE_LENGTHS = SINGLE.map((name) => name.length);

/**
 * The error for a request target that isn't a URL, such as `http://[`. The path becomes `/`, because code that parses
 * the target again would throw again.
 */
export function refuseTarget(request: Request): ApiError | undefined {
  if (hasPath(request)) return undefined;
  request.url = '/';
  return validationError([{ field: 'path', rule: 'url', message: 'must be a valid request target' }]);
}

/** Express caches the parsed URL. */
function hasPath(request: Request): boolean {
  try {
    return typeof request.path === 'string';
  } catch {
    return false;
  }
}

/**
 * Answers what Node's server would refuse by itself with an empty body; the server is configured to pass it on. Also
 * refuses what Node accepts.
 */
export function requireWellFormed(
  { headers, httpVersion, rawHeaders }: Request,
  response: Response,
  next: NextFunction,
): void {
  const repeated = repeatedOf(rawHeaders);
  if (repeated)
    return next(validationError([{ field: repeated, rule: 'once', message: 'must be given at most once' }]));
  if (headers.accept !== undefined && headers.accept.length > MAX_ACCEPT) return next(longAccept());
  if (httpVersion === '1.0')
    return next(headers['transfer-encoding'] === undefined ? undefined : faultyFraming(response));
  // HTTP/1.0 has neither of these.
  if (headers.host === undefined) {
    return next(validationError([{ field: 'Host', rule: 'required', message: 'is required' }]));
  }
  if (headers.expect !== undefined && !/^100-continue$/i.test(headers.expect)) {
    return next(new ApiError('EXPECTATION_FAILED'));
  }
  next();
}

/** Compares lengths first, because this runs for each header of each request. */
function repeatedOf(rawHeaders: string[]): string | undefined {
  let seen = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (!SINGLE_LENGTHS.includes(rawHeaders[at].length)) continue;
    const index = SINGLE_NAMES.indexOf(rawHeaders[at].toLowerCase());
    if (index < 0) continue;
    if (seen & (1 << index)) return SINGLE[index];
    seen |= 1 << index;
  }
  return undefined;
}

/** A proxy that speaks HTTP/1.0 may see another end of the message, so nothing more is read (RFC 9112, 6.1). */
function faultyFraming(response: Response): ApiError {
  response.setHeader('Connection', 'close');
  const message = 'must not be given in HTTP/1.0';
  return validationError([{ field: 'Transfer-Encoding', rule: 'version', message }]);
}

function longAccept(): ApiError {
  return validationError([{ field: 'Accept', rule: 'length', message: `must be at most ${MAX_ACCEPT} characters` }]);
}
