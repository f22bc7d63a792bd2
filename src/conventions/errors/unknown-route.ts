import type { Application, NextFunction, Request, Response } from 'express';
import { RouteIndex } from '../requests/route-index';
import { ApiError } from './api-error';

/** What no route took: OPTIONS is told the methods, another method of a known path is 405, an unknown path 404. */
export function unknownRoute(request: Request, response: Response, next: NextFunction): void {
  const allowed = methodsOf(request.app, request.path);
  if (allowed.length === 0) return next(new ApiError('NOT_FOUND', { message: 'There is nothing at this path' }));
  const Allow = allowed.join(', ');
  if (request.method !== 'OPTIONS') return next(new ApiError('METHOD_NOT_ALLOWED', { headers: { Allow } }));
  response.setHeader('Allow', Allow);
  if (allowed.includes('PATCH')) response.setHeader('Accept-Patch', 'application/json, application/merge-patch+json');
  response.status(204).end();
}

/** The methods that the path has, with those that come by themselves; none for an unknown path. */
export function methodsOf(app: Application, path: string): string[] {
  const methods = RouteIndex.routesOf(app, path)
    .filter((layer) => layer.match(path))
    .flatMap(({ route }) => Object.keys(route?.methods ?? {}))
    // Nest's own handlers are for all methods, which Express marks with `_all`.
    .filter((method) => method !== '_all')
    .map((method) => method.toUpperCase());
  if (methods.length === 0) return [];
  const known = new Set([...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS']);
  return ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].filter((method) => known.has(method));
}
