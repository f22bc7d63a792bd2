import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { ApiError } from '../errors/api-error';
import { type Representation, type Version, VERSIONS } from '../http/api-version';

/** Every route of a controller stands below it once: without a version, which {@link toTablePath} takes off the path. */
export const API_PREFIX = 'api';
export const ROOT = `/${API_PREFIX}`;

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
 * Finds out which version is asked for, by `/api/v1/...` or, at `/api/...`, by `Accept`. What nothing acceptable can be made
 * for is refused by {@link AcceptGuard}, once its route is known.
 */
export function resolveVersion(request: Request, response: Response, next: NextFunction): void {
  // Of a request line with a whole URL only the path counts.
  const { path } = request;
  request.urlAsSent = request.url;
  if (!API_PATH.test(path)) return next();
  // The library behind vary() parses what is there.
  if (response.hasHeader('Vary')) response.vary(VARY);
  else response.setHeader('Vary', VARY);
  const inPath = VERSIONED_PATH.exec(path);
  const version = VERSIONS.find((one) => String(one) === inPath?.[1]);
  if (inPath && !version) return next(new ApiError('NOT_FOUND', { message: 'There is no such version of this API' }));
  request.representation = choose(request, version);
  request.version = version ?? request.representation?.version ?? DEFAULT_VERSION;
  request.apiRoot = inPath ? inPath[0] : ROOT;
  next();
}

/** Leaves the path as the one routing table of all controllers has it. Middleware before it sees the path as it was sent. */
export function toTablePath(request: Request, response: Response, next: NextFunction): void {
  if (request.url === request.urlAsSent) return takeVersionOff(request, next);
  // A middleware has written another path.
  Object.assign(request, { version: undefined, apiRoot: undefined, representation: undefined });
  resolveVersion(request, response, (error) => (error ? next(error) : takeVersionOff(request, next)));
}

function takeVersionOff(request: Request, next: NextFunction): void {
  const { apiRoot } = request;
  if (apiRoot && apiRoot.length > ROOT.length) request.url = `${tablePath(request)}${searchOf(request.url)}`;
  next();
}

/** For what comes after the routes of the controllers. */
export function toPathAsSent(request: Request, _response: Response, next: NextFunction): void {
  request.url = request.urlAsSent ?? request.url;
  next();
}

/** Calls the handler of a route with the URL that was sent, for guards, interceptors and filters to compare, sign and show. */
export function withUrlAsSent(handler: RequestHandler): RequestHandler {
  return (request, response, next) => {
    const { url, urlAsSent } = request;
    if (urlAsSent === undefined || urlAsSent === url) return handler(request, response, next);
    request.url = urlAsSent;
    return handler(request, response, (passed?: unknown) => {
      // The router goes on looking.
      request.url = url;
      next(passed);
    });
  };
}

/** A path without its query. */
export interface Paths {
  asSent: string;
  /** Without its version. */
  inTable: string;
}

/** The path of a request, wherever it is: with the router, whose table has no versions, or with what that calls. */
export function pathsOf(request: Request): Paths {
  const { path, url, urlAsSent, version } = request;
  if (version === undefined) return { asSent: path, inTable: path };
  const isInTable = url !== urlAsSent;
  return { asSent: isInTable ? asSent(path, request) : path, inTable: isInTable ? path : tablePath(request) };
}

const tablePath = ({ apiRoot = '', path }: Request) => `${ROOT}${path.slice(apiRoot.length)}`;

/**
 * A path of the table as the caller of this request would write it. Not from `originalUrl`, which is a whole URL, with a host that
 * anyone may make up, when the request line holds one.
 */
export function asSent(path: string, { apiRoot, version }: Request): string {
  return version === undefined ? path : `${apiRoot}${path.slice(ROOT.length)}`;
}

/** The URL with its version, which another URL may ask for by its headers: what caches and exclusions compare. */
export function versionedUrl({ originalUrl, apiRoot = '', version }: Request): string {
  if (version === undefined || !originalUrl.startsWith(apiRoot)) return originalUrl;
  return `${ROOT}/v${version}${originalUrl.slice(apiRoot.length)}`;
}

/** The query of a URL with its question mark; empty where there is none. */
export function searchOf(url: string): string {
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
