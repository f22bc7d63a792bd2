import type { NextFunction, Request, Response } from 'express';
import { ApiError } from '../errors/api-error';
import './request-context';

/** Every route stands below it once: without a version, which is taken off the path before the router sees it. */
export const API_PREFIX = 'api';
export const VERSIONS = [1, 2] as const;
export type Version = (typeof VERSIONS)[number];

/** What answers depend on besides the path. */
const VARY = 'Accept, Accept-Encoding, Authorization';
/** What a request that names no version gets. */
const DEFAULT_VERSION: Version = 1;
const JSON_TYPE = 'application/json; charset=utf-8';
const VERSIONED_PATH = /^\/api\/v(\d+)(?=\/|$)/i;
/** All of the API, in whatever version. */
export const API_PATH = /^\/api(?=\/|$)/i;
/** Of an `Accept` header there are few kinds, but a caller may make up any number. */
const MAX_REMEMBERED = 1_000;

/** One way in which the service can put an answer. */
export interface Representation {
  version: Version;
  /** The media type as it is sent. */
  mediaType: string;
  /** Distinguishes its entity tags from those of the same version in another media type. */
  variant: string;
}

const PLAIN: Record<Version, Representation> = {
  1: { version: 1, mediaType: JSON_TYPE, variant: '' },
  2: { version: 2, mediaType: JSON_TYPE, variant: '' },
};
const VENDOR: Record<Version, Representation> = {
  1: { version: 1, mediaType: 'application/vnd.api+json; version=1', variant: 'vnd1' },
  2: { version: 2, mediaType: 'application/vnd.api+json; version=2', variant: 'vnd2' },
};

/** What the path leaves to choose from, the first being the one for callers who take anything. */
const OF_PATH: Record<Version, Representation[]> = { 1: [PLAIN[1], VENDOR[1]], 2: [PLAIN[2], VENDOR[2]] };
/** The media type that names the version, for callers who ask for it. */
export const vendorMediaType = (version: Version): string => VENDOR[version].mediaType;
const UNVERSIONED = [PLAIN[DEFAULT_VERSION], ...VERSIONS.map((version) => VENDOR[version])];

/**
 * Finds out which version is asked for, by `/api/v1/...` or, at `/api/...`, by `Accept`, and leaves the path as the one
 * routing table has it. What nothing acceptable can be made for is refused by {@link AcceptGuard}, once its route is known.
 */
export function resolveVersion(request: Request, response: Response, next: NextFunction): void {
  // Of a request line with a whole URL only the path counts.
  const { path } = request;
  if (!API_PATH.test(path)) return next();
  // The library behind vary() parses what is there.
  if (response.hasHeader('Vary')) response.vary(VARY);
  else response.setHeader('Vary', VARY);
  const inPath = VERSIONED_PATH.exec(path);
  const version = VERSIONS.find((one) => String(one) === inPath?.[1]);
  if (inPath && !version) return next(new ApiError('NOT_FOUND', { message: 'There is no such version of this API' }));
  request.representation = choose(request, version);
  request.version = version ?? request.representation?.version ?? DEFAULT_VERSION;
  request.apiRoot = inPath ? inPath[0] : `/${API_PREFIX}`;
  if (inPath) request.url = `/${API_PREFIX}${path.slice(inPath[0].length)}${searchOf(request.url)}`;
  next();
}

/**
 * The path as the caller wrote it, without its query. Not from `originalUrl`, which is a whole URL, with a host that anyone
 * may make up, when the request line holds one.
 */
export function pathOf({ apiRoot, path }: Request): string {
  return `${apiRoot}${path.slice(API_PREFIX.length + 1)}`;
}

function searchOf(url: string): string {
  const at = url.indexOf('?');
  return at < 0 ? '' : url.slice(at);
}

const remembered = new Map<string, Representation | undefined>();

function choose(request: Request, version: Version | undefined): Representation | undefined {
  const { accept } = request.headers;
  const possible = version ? OF_PATH[version] : UNVERSIONED;
  if (!accept || accept === '*/*' || accept === 'application/json') return possible[0];
  const key = `${version ?? ''} ${accept}`;
  if (!remembered.has(key)) {
    if (remembered.size >= MAX_REMEMBERED) remembered.clear();
    remembered.set(key, negotiate(request, possible));
  }
  return remembered.get(key);
}

/** A parameter that a range names must be there with the same value, so each type is offered with all of its own. */
function negotiate(request: Request, possible: Representation[]): Representation | undefined {
  const offers = possible.map(({ mediaType }) =>
    mediaType.includes('charset') ? mediaType : `${mediaType}; charset=utf-8`,
  );
  const chosen = request.accepts(offers);
  return chosen === false ? undefined : possible[offers.indexOf(chosen)];
}
