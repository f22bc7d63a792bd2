import type { RequestHandler } from 'express';
import { type Version, VERSIONS } from '../http/api-version';
import { API_PREFIX } from './version';

/** Nest's path of a versioned route, with or without the prefix. */
const VERSIONED = new RegExp(`^(/${API_PREFIX})?/v(${VERSIONS.join('|')})(?=/|\\$|$)`);

export interface TablePath {
  /** The path without a version, as in the routing table. */
  path: string;
  /** The version that Nest has added to the path. Nest adds a path for each version. */
  version?: Version;
}

export function tablePathOf(path: string): TablePath {
  const found = VERSIONED.exec(path);
  if (!found) return { path };
  const [beginning, prefix = ''] = found;
  return { path: `${prefix}${path.slice(beginning.length)}` || '/', version: Number(found[2]) as Version };
}

/** The versions of controllers' handlers. */
const versionsOfHandlers = new WeakMap<RequestHandler, ReadonlySet<Version>>();
const middlewares = new WeakSet<RequestHandler>();

/** Marks a handler as that of a controller's route, whose path has no version. */
export function serves(handler: RequestHandler, versions: ReadonlySet<Version>): void {
  versionsOfHandlers.set(handler, versions);
}

/** The versions in which a handler serves a controller's route; undefined for other handlers. */
export function versionsOf(handler: RequestHandler): ReadonlySet<Version> | undefined {
  return versionsOfHandlers.get(handler);
}

/** Calls the handler in these versions, and passes other requests on. */
export function onlyIn(versions: ReadonlySet<Version | undefined>, handler: RequestHandler): RequestHandler {
  return (request, response, next) => (versions.has(request.version) ? handler(request, response, next) : next());
}

/**
 * Marks a middleware: Nest adds the middleware of one method like a route, but it doesn't make its path a known one.
 */
export function markMiddleware(handler: RequestHandler): void {
  middlewares.add(handler);
}

export function isMiddleware(handler: RequestHandler): boolean {
  return middlewares.has(handler);
}
