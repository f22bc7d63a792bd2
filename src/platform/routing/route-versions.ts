import type { RequestHandler } from 'express';
import { type Version, VERSIONS } from '../http/api-version';
import { API_PREFIX } from './version';

/** A path as Nest has it, which versions by path: below the prefix, or of a route that the prefix leaves out. */
const VERSIONED = new RegExp(`^(/${API_PREFIX})?/v(${VERSIONS.join('|')})(?=/|\\$|$)`);

export interface TablePath {
  /** Without a version, as the routing table has it. */
  path: string;
  /** The version that Nest has put into it, which asks for one path for each version. */
  version?: Version;
}

export function tablePathOf(path: string): TablePath {
  const found = VERSIONED.exec(path);
  if (!found) return { path };
  const [beginning, prefix = ''] = found;
  return { path: `${prefix}${path.slice(beginning.length)}` || '/', version: Number(found[2]) as Version };
}

/** Of what serves the routes of controllers: in which versions. */
const versionsOfHandlers = new WeakMap<RequestHandler, ReadonlySet<Version>>();
const middlewares = new WeakSet<RequestHandler>();

/** Says of what the router calls that it serves a route of a controller, whose path has no version. */
export function serves(handler: RequestHandler, versions: ReadonlySet<Version>): void {
  versionsOfHandlers.set(handler, versions);
}

/** In which versions it serves a route of a controller; undefined for what was added by hand. */
export function versionsOf(handler: RequestHandler): ReadonlySet<Version> | undefined {
  return versionsOfHandlers.get(handler);
}

/** Calls the handler in these versions, and is no route in others. */
export function onlyIn(versions: ReadonlySet<Version | undefined>, handler: RequestHandler): RequestHandler {
  return (request, response, next) => (versions.has(request.version) ? handler(request, response, next) : next());
}

/** Says that it makes no route of its path: Nest adds the middleware of one method as if it were a route. */
export function markMiddleware(handler: RequestHandler): void {
  middlewares.add(handler);
}

export function isMiddleware(handler: RequestHandler): boolean {
  return middlewares.has(handler);
}
