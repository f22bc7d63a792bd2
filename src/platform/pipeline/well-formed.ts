import type { NextFunction, Request, Response } from 'express';
import { ApiError, validationError } from '../errors/api-error';

/**
 * What a request has once (RFC 9110, 5.3), and Node takes the first of without a word. A proxy that takes the last would let
 * pass what we refuse. Of all others Node makes one list, which is nothing that we know.
 */
const SINGLE = ['Host', 'Content-Type'];
const SINGLE_NAMES = SINGLE.map((name) => name.toLowerCase());
const SINGLE_LENGTHS = SINGLE.map((name) => name.length);
/** Many times what a client has to say; negotiation compares each range with each. */
const MAX_ACCEPT = 2_048;

/**
 * The refusal of a request target that is no URL, such as `http://[`. Whatever looks at the path of such a request sees `/`: to
 * parse the target once more would fail once more, in whose hands that may be.
 */
export function refuseTarget(request: Request): ApiError | undefined {
  if (hasPath(request)) return undefined;
  request.url = '/';
  return validationError([{ field: 'path', rule: 'url', message: 'must be a valid request target' }]);
}

/** Express keeps what it has parsed. */
function hasPath(request: Request): boolean {
  try {
    return typeof request.path === 'string';
  } catch {
    return false;
  }
}

/** What Node's server would refuse by itself, with an empty body, if it were not told to leave it to us; and what it lets pass. */
export function requireWellFormed(
  { headers, httpVersion, rawHeaders }: Request,
  _response: Response,
  next: NextFunction,
): void {
  const repeated = repeatedOf(rawHeaders);
  if (repeated)
    return next(validationError([{ field: repeated, rule: 'once', message: 'must be given at most once' }]));
  if (headers.accept !== undefined && headers.accept.length > MAX_ACCEPT) return next(longAccept());
  // HTTP/1.0 knows neither.
  if (httpVersion === '1.0') return next();
  if (headers.host === undefined) {
    return next(validationError([{ field: 'Host', rule: 'required', message: 'is required' }]));
  }
  if (headers.expect !== undefined && !/^100-continue$/i.test(headers.expect)) {
    return next(new ApiError('EXPECTATION_FAILED'));
  }
  next();
}

/** Compares lengths first: this is done for each header of each request. */
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

function longAccept(): ApiError {
  return validationError([{ field: 'Accept', rule: 'length', message: `must be at most ${MAX_ACCEPT} characters` }]);
}
