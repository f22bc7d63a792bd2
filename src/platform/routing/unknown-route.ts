import type { NextFunction, Request, Response } from 'express';
import { type Layer, RouteIndex, type RouteLayer } from './route-index';
import { isMiddleware, versionsOf } from './route-versions';
import { type Paths, pathsOf } from './version';
import { ApiError } from '../errors/api-error';

const USUAL = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/**
 * Answers what no route has taken: OPTIONS gets the methods, another method of a known path 405, an unknown path 404.
 */
export function unknownRoute(request: Request, response: Response, next: NextFunction): void {
  const allowed = methodsOf(request);
  const isOptions = request.method === 'OPTIONS';
  // A route with this method has passed the request on, e.g. because of its host.
  if (allowed.length === 0 || (!isOptions && allowed.includes(request.method))) return next(notFound());
  const Allow = allowed.join(', ');
  if (!isOptions) return next(new ApiError('METHOD_NOT_ALLOWED', { headers: { Allow } }));
  response.setHeader('Allow', Allow);
  if (allowed.includes('PATCH')) response.setHeader('Accept-Patch', 'application/json, application/merge-patch+json');
  response.status(204).end();
}

export const notFound = () => new ApiError('NOT_FOUND', { message: 'There is nothing at this path' });

/** The methods of a request's path in its version, including HEAD and OPTIONS; empty for an unknown path. */
export function methodsOf(request: Request): string[] {
  return methodsAt(pathsOf(request), request);
}

/** The methods of another path, in the version of a request. */
export function methodsAt({ asSent, inTable }: Paths, request: Request): string[] {
  const routes = [
    ...routesAt(inTable, request).filter((route) => isOfController(route)),
    ...routesAt(asSent, request).filter((route) => !isOfController(route)),
  ];
  const methods = routes
    .flatMap(({ stack }) => stack.filter((layer) => isFor(layer, request)))
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
