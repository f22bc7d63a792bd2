import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { ApiError } from '../errors/api-error';
import { mayMeanXml } from '../http/accepted';
import { XML_TYPES } from '../http/xml';
import { type Representation, type Version, VERSIONS } from '../http/api-version';

/**
 * The prefix of all controllers' routes. In the routing table a path has no version, because {@link toTablePath}
 * removes it.
 */
export const API_PREFIX = 'api';
export const ROOT = `/${API_PREFIX}`;

/** What answers depend on beside the path. */
const VARY = 'Accept, Accept-Encoding, Authorization';
/** The version of a request that names none. */
export const DEFAULT_VERSION: Version = 1;
const JSON_TYPE = 'application/json; charset=utf-8';
const VERSIONED_PATH = /^\/api\/v(\d+)(?=\/|$)/i;
/** Matches the paths of the API in every version. */
export const API_PATH = /^\/api(?=\/|$)/i;
/** Few `Accept` headers are common, but a caller may invent any number. */
const MAX_REMEMBERED = 1_000;

const PLAIN: Record<Version, Representation> = {
  1: { version: 1, mediaType: JSON_TYPE, variant: '' },
  2: { version: 2, mediaType: JSON_TYPE, variant: '' },
};
const VENDOR: Record<Version, Representation> = {
  1: { version: 1, mediaType: 'application/vnd.api+json; version=1', variant: 'vnd1' },
  2: { version: 2, mediaType: 'application/vnd.api+json; version=2', variant: 'vnd2' },
};

/** Each media type has entity tags of its own. */
const xmlOf = (version: Version): Representation[] =>
  XML_TYPES.map((type) => ({
    version,
    mediaType: `${type}; charset=utf-8`,
    variant: type.replace(/\W/g, ''),
    isXml: true,
  }));

/** The representations of a version in the path. The first is the default. */
const OF_PATH: Record<Version, Representation[]> = {
  1: [PLAIN[1], VENDOR[1], ...xmlOf(1)],
  2: [PLAIN[2], VENDOR[2], ...xmlOf(2)],
};
/** The media type that names the version. */
export const vendorMediaType = (version: Version): string => VENDOR[version].mediaType;
const UNVERSIONED = [PLAIN[DEFAULT_VERSION], ...VERSIONS.map((version) => VENDOR[version]), ...xmlOf(DEFAULT_VERSION)];

/**
 * Finds the requested version: in `/api/v1/...`, or for `/api/...` in `Accept`. If no representation is acceptable,
 * {@link AcceptGuard} refuses the request once its route is known.
 */
export function resolveVersion(request: Request, response: Response, next: NextFunction): void {
  // A request line may contain a whole URL, of which only the path counts.
  const { path } = request;
  request.urlAsSent = request.url;
  if (!API_PATH.test(path)) return next();
  // The library behind vary() would parse the header.
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

/** Rewrites the URL to the path in the routing table. Earlier middleware sees the path as it was sent. */
export function toTablePath(request: Request, response: Response, next: NextFunction): void {
  if (request.url === request.urlAsSent) return takeVersionOff(request, next);
  // A middleware has rewritten the path.
  Object.assign(request, { version: undefined, apiRoot: undefined, representation: undefined });
  resolveVersion(request, response, (error) => (error ? next(error) : takeVersionOff(request, next)));
}

function takeVersionOff(request: Request, next: NextFunction): void {
  const { apiRoot } = request;
  if (apiRoot && apiRoot.length > ROOT.length) request.url = `${tablePath(request)}${searchOf(request.url)}`;
  next();
}

/** Restores the URL for handlers after the controllers' routes. */
export function toPathAsSent(request: Request, _response: Response, next: NextFunction): void {
  request.url = request.urlAsSent ?? request.url;
  next();
}

/** Calls a handler with the original URL, so that guards, interceptors and filters can compare, sign or show it. */
export function withUrlAsSent(handler: RequestHandler): RequestHandler {
  return (request, response, next) => {
    const { url, urlAsSent } = request;
    if (urlAsSent === undefined || urlAsSent === url) return handler(request, response, next);
    request.url = urlAsSent;
    return handler(request, response, (passed?: unknown) => {
      // The router continues with its own URL.
      request.url = url;
      next(passed);
    });
  };
}

/** The two forms of a path without its query. */
export interface Paths {
  asSent: string;
  /** The path without its version. */
  inTable: string;
}

/** The path of a request, in both forms, wherever the request is. */
export function pathsOf(request: Request): Paths {
  const { path, url, urlAsSent, version } = request;
  if (version === undefined) return { asSent: path, inTable: path };
  const isInTable = url !== urlAsSent;
  return { asSent: isInTable ? asSent(path, request) : path, inTable: isInTable ? path : tablePath(request) };
}

const tablePath = ({ apiRoot = '', path }: Request) => `${ROOT}${path.slice(apiRoot.length)}`;

/**
 * The path of a route in the caller's form. `originalUrl` isn't used: it may be a whole URL with any host that the
 * caller invents.
 */
export function asSent(path: string, { apiRoot, version }: Request): string {
  return version === undefined ? path : `${apiRoot}${path.slice(ROOT.length)}`;
}

/** The URL with its version, even if a header selects the version. Caches and exclusions compare it. */
export function versionedUrl({ originalUrl, apiRoot = '', version }: Request): string {
  if (version === undefined || !originalUrl.startsWith(apiRoot)) return originalUrl;
  return `${ROOT}/v${version}${originalUrl.slice(apiRoot.length)}`;
}

/** The query of a URL with its question mark, or the empty text. */
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
    const inJson = possible.filter(({ isXml }) => !isXml);
    const json = mayMeanXml(accept) ? undefined : negotiate(request, inJson);
    remembered.set(key, json ?? negotiate(request, possible));
  }
  return remembered.get(key);
}

/** A parameter of a range must match exactly, so each type is offered with all its parameters. */
function negotiate(request: Request, possible: Representation[]): Representation | undefined {
  const offers = possible.map(({ mediaType }) =>
    mediaType.includes('charset') ? mediaType : `${mediaType}; charset=utf-8`,
  );
  const chosen = request.accepts(offers);
  return chosen === false ? undefined : possible[offers.indexOf(chosen)];
}
