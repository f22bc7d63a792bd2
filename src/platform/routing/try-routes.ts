import type { NextFunction, Request, RequestHandler, Response, Router } from 'express';
import type { Match } from './plain-pattern';

/** A layer of Express's router that may have a route. */
export interface TriedLayer {
  match(path: string): Match | false;
  handleRequest(request: Request, response: Response, next: NextFunction): void;
  route?: Route;
}

interface Route {
  path: string;
  methods: Record<string, boolean | undefined>;
  stack: RouteLayer[];
  _handlesMethod(method: string): boolean;
}

/** A handler of a route. */
export interface RouteLayer extends Pick<TriedLayer, 'handleRequest'> {
  handle: RequestHandler;
  /** In lower case; undefined for all methods. */
  method?: string;
}

/** Given as error by a handler that leaves its route, and no other. */
const ROUTE = 'route';
/** Handlers that may pass a request on at once, as in Express. Then the stack begins anew. */
const MAX_AT_ONCE = 100;

/**
 * Does what a router of Express does with a request, for a router that has routes alone. Express's router prepares each
 * request for mounted paths, for `app.param()` and for methods that it lists, none of which is there (D-318).
 * @param leave called when no route has answered
 */
export function tryRoutes(router: Router, request: Request, response: Response, leave: NextFunction): void {
  const layers = router.stack as unknown as TriedLayer[];
  const { next: before, params } = request;
  let index = 0;
  let atOnce = 0;

  function left(error?: unknown): void {
    request.next = before;
    request.params = params;
    leave(error);
  }

  function next(error?: unknown): void {
    if (error && error !== ROUTE) return left(error);
    if (++atOnce > MAX_AT_ONCE) {
      atOnce = 0;
      return void setImmediate(next, error);
    }
    const path = pathOf(request);
    if (path === undefined) return left();
    const { method } = request;
    while (index < layers.length) {
      const layer = layers[index++];
      const route = layer.route!;
      let match;
      try {
        match = layer.match(path);
      } catch (failure) {
        return left(failure);
      }
      if (!match) continue;
      if (!route._handlesMethod(method) && method !== 'HEAD') continue;
      request.route = route;
      request.params = match.params;
      return layer.handleRequest(request, response, next);
    }
    left();
  }

  request.next = next;
  next();
}

/** A handler may have rewritten the URL, to one that can't be parsed. */
function pathOf(request: Request): string | undefined {
  try {
    return request.path;
  } catch {
    return undefined;
  }
}
