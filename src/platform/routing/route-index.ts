import { tracingChannel } from 'node:diagnostics_channel';
import { type Application, type NextFunction, type Request, type RequestHandler, type Response, Router } from 'express';
import { plainPattern } from './plain-pattern';
import { type TriedLayer, tryRoutes } from './try-routes';

export type RouteMethod = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** The used properties of a layer of Express's router (package `router` 2). */
export interface Layer extends TriedLayer {
  handle: RequestHandler & { index?: RouteIndex };
}

/** The channel of Express's router, whose subscribers are told of each handler and of its route. */
const traced = tracingChannel('express.router.request');

/** Applications that use a feature of Express that an index doesn't support. */
const withoutIndex = new WeakSet<Application>();

/** Characters that make a segment of a pattern match more than itself. */
export const NO_LITERAL = /[:*{}()[\]?+!\\]/;

/**
 * An index of routes by the first two segments of their paths. Express's router tries routes in sequence, which takes a
 * tenth of GET /public with fifty routes.
 */
export class RouteIndex {
  private readonly routers = new Map<string, Router>();
  /** The layer of the middleware that the index calls itself, or none. */
  private readonly ahead: Layer[];

  private constructor(
    private readonly app: Application,
    ahead: RequestHandler | undefined,
  ) {
    const stack = stackOf(app);
    this.ahead = ahead && stack.at(-1)?.handle === ahead ? stack.splice(-1) : [];
    const [first] = this.ahead;
    const handle: Layer['handle'] = first
      ? (request, response, next) =>
          first.handle(request, response, (error) => (error ? next(error) : this.dispatch(request, response, next)))
      : (request, response, next) => this.dispatch(request, response, next);
    handle.index = this;
    app.router.use(handle);
  }

  /**
   * Returns the router for a route. Consecutive routes share an index, which keeps the order of registration. A path
   * that doesn't start with literal segments is added to the application itself.
   * @param ahead a middleware without a path. If it is the last before a new index, the index calls it, which takes less
   *   time than one more step of the router
   */
  static routerFor(app: Application, pattern: unknown, ahead?: RequestHandler): Router | undefined {
    const beginning = typeof pattern === 'string' ? beginningOf(pattern) : '';
    if (beginning === '' || NO_LITERAL.test(beginning) || withoutIndex.has(app)) return undefined;
    const index = stackOf(app).at(-1)?.handle.index ?? new RouteIndex(app, ahead);
    let router = index.routers.get(beginning);
    if (!router) index.routers.set(beginning, (router = index.newRouter()));
    return router;
  }

  /** All routes of an application, or those that a path may match, in the order in which they are tried. */
  static routesOf(app: Application, path?: string): Layer[] {
    const layers = stackOf(app).flatMap((layer) => layer.handle.index?.layersFor(path) ?? [layer]);
    return layers.filter(({ route }) => route);
  }

  /** Moves all routes, and later ones, to the application itself, for features that Express only has there. */
  static dissolve(app: Application): void {
    withoutIndex.add(app);
    const stack = stackOf(app);
    // No two routers of an index match the same path, so their order doesn't matter.
    stack.splice(0, stack.length, ...stack.flatMap((layer) => layer.handle.index?.layers ?? [layer]));
  }

  private dispatch(request: Request, response: Response, next: NextFunction): void {
    // A router would answer OPTIONS by itself if nothing else does.
    const router = request.method === 'OPTIONS' ? undefined : this.routers.get(beginningOf(request.path));
    if (!router) next();
    else if (traced.hasSubscribers) router(request, response, next);
    else tryRoutes(router, request, response, next);
  }

  private get layers(): Layer[] {
    return [...this.ahead, ...this.layersFor(undefined)];
  }

  private layersFor(path: string | undefined): Layer[] {
    const routers = path === undefined ? [...this.routers.values()] : [this.routers.get(beginningOf(path))];
    return routers.flatMap((router) => (router?.stack ?? []) as unknown as Layer[]);
  }

  private newRouter(): Router {
    const { app } = this;
    const caseSensitive = app.enabled('case sensitive routing');
    const strict = app.enabled('strict routing');
    const router = Router({ caseSensitive, strict });
    const add = router.route.bind(router);
    const route = (path: string) => {
      const added = add(path);
      const layer = (router.stack as unknown as Layer[]).at(-1)!;
      const plain = caseSensitive || strict ? undefined : plainPattern(path);
      if (plain) layer.match = plain;
      return added;
    };
    return Object.assign(router, { route });
  }
}

/** The first two segments in lower case, because the router ignores case. */
function beginningOf(path: string): string {
  const second = path.indexOf('/', 1);
  const third = second < 0 ? -1 : path.indexOf('/', second + 1);
  const end = third >= 0 ? third : path.endsWith('/') ? path.length - 1 : path.length;
  return path.slice(1, end).toLowerCase();
}

export function stackOf(app: Application): Layer[] {
  return (app.router as unknown as { stack: Layer[] }).stack;
}
