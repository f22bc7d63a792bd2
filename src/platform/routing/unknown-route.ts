import type { Request, RequestHandler, Response } from 'express';
import { type Layer, RouteIndex } from './route-index';
import type { RouteLayer } from './try-routes';
import { isMiddleware, versionsOf } from './route-versions';
import { type Paths, pathsOf } from './version';
import { XML_TYPES } from '../http/xml';
import { ApiError } from '../errors/api-error';

/** The media types of a route without its own. */
const PATCH_TYPES = ['application/json', 'application/merge-patch+json', ...XML_TYPES].join(', ');
const USUAL = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** Whether a caller may call a handler, as far as roles tell. */
export type MayCall = (handler: RequestHandler) => boolean;
/** Finds out what the caller of a request may call. @throws {AuthenticationError} for a bad token */
export type RightsOf = (request: Request, response: Response) => Promise<MayCall>;

/**
 * Answers what no route has taken: OPTIONS gets the methods that its caller may use, another method of a known path
 * 405, an unknown path 404 (D-232).
 */
export const unknownRoute =
  (rightsOf: RightsOf): RequestHandler =>
  (request, response, next) => {
    const known = methodsOf(request);
    if (known.length > 0 && request.method === 'OPTIONS') return answerOptions(request, response, rightsOf);
    // A route with this method has passed the request on, e.g. because of its host.
    if (known.length === 0 || known.includes(request.method)) return next(notFound());
    return next(new ApiError('METHOD_NOT_ALLOWED', { headers: { Allow: known.join(', ') } }));
  };

async function answerOptions(request: Request, response: Response, rightsOf: RightsOf): Promise<void> {
  const mayCall = await rightsOf(request, response);
  const allowed = methodsOf(request, mayCall);
  response.setHeader('Allow', allowed.join(', ') || 'OPTIONS');
  if (allowed.includes('PATCH')) response.setHeader('Accept-Patch', PATCH_TYPES);
  response.status(204).end();
}

export const notFound = () => new ApiError('NOT_FOUND', { message: 'There is nothing at this path' });

/** The methods of a request's path in its version, including HEAD and OPTIONS; empty for an unknown path. */
export function methodsOf(request: Request, mayCall?: MayCall): string[] {
  return methodsAt(pathsOf(request), request, mayCall);
}

/** The methods of another path, in the version of a request. */
export function methodsAt({ asSent, inTable }: Paths, request: Request, mayCall: MayCall = () => true): string[] {
  const routes = [
    ...routesAt(inTable, request).filter((route) => isOfController(route)),
    ...routesAt(asSent, request).filter((route) => !isOfController(route)),
  ];
  const methods = routes
    .flatMap(({ stack }) => stack.filter((layer) => isFor(layer, request) && mayCall(layer.handle)))
    // A route for all methods names none.
    .flatMap(({ method }) => method?.toUpperCase() ?? []);
  if (methods.length === 0) return [];
  const known = new Set([...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS']);
  const others = [...known].filter((method) => !USUAL.includes(method));
  return [...USUAL.filter((method) => known.has(method)), ...others];
}

type Route = NonNullable<Layer['route']>;

function routesAt(path: string, { app }: Request): Route[] {
  return RouteIndex.routesOf(app, path).flatMap((layer) => (layer.route && layer.match(path) ? [layer.route] : []));
}

/** A controller's route has no version in its path. */
const isOfController = ({ stack }: Route) => stack.some(({ handle }) => versionsOf(handle));

function isFor({ handle }: RouteLayer, { version }: Request): boolean {
  if (isMiddleware(handle)) return false;
  const versions = versionsOf(handle);
  return !versions || version === undefined || versions.has(version);
}
