import { type Application, type NextFunction, type Request, type RequestHandler, type Response, Router } from 'express';

export type RouteMethod = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** A layer of Express's router (package `router` 2), as far as it is needed here. */
export interface Layer {
  match(path: string): unknown;
  handle: RequestHandler & { index?: RouteIndex };
  route?: { path: string; methods: Record<string, boolean | undefined>; stack: RouteLayer[] };
}

/** One handler of a route. */
export interface RouteLayer {
  handle: RequestHandler;
  /** In lower case; undefined for all methods. */
  method?: string;
}

/** Applications that have more to do with all of their routes than an index knows of. */
const withoutIndex = new WeakSet<Application>();

/** What makes a segment of a pattern match more than itself. */
export const NO_LITERAL = /[:*{}()[\]?+!\\]/;

/**
 * Routes by what their paths begin with. Express's router asks one route after the other, which with fifty of them is a
 * tenth of what GET /public costs; here it asks only those whose first two segments are those of the request.
 */
export class RouteIndex {
  private readonly routers = new Map<string, Router>();

  private constructor(private readonly app: Application) {
    const dispatch: Layer['handle'] = (request, response, next) => this.dispatch(request, response, next);
    dispatch.index = this;
    app.router.use(dispatch);
  }

  /**
   * Where a route is to be added: to an index that is the last of what the application has, so that everything is still
   * asked in the order in which it was added; or to the application itself, when the beginning of its path is no literal.
   */
  static routerFor(app: Application, pattern: unknown): Router | undefined {
    const beginning = typeof pattern === 'string' ? beginningOf(pattern) : '';
    if (beginning === '' || NO_LITERAL.test(beginning) || withoutIndex.has(app)) return undefined;
    const index = stackOf(app).at(-1)?.handle.index ?? new RouteIndex(app);
    let router = index.routers.get(beginning);
    if (!router) index.routers.set(beginning, (router = index.newRouter()));
    return router;
  }

  /** All routes of an application; or those among which one with this path is looked for, in that order. */
  static routesOf(app: Application, path?: string): Layer[] {
    const layers = stackOf(app).flatMap((layer) => layer.handle.index?.layersFor(path) ?? [layer]);
    return layers.filter(({ route }) => route);
  }

  /** Has all routes be routes of the application itself, also those to come: for what Express offers for its own alone. */
  static dissolve(app: Application): void {
    withoutIndex.add(app);
    const stack = stackOf(app);
    // No two routers of an index match the same path, so that their order doesn't matter.
    stack.splice(0, stack.length, ...stack.flatMap((layer) => layer.handle.index?.layersFor(undefined) ?? [layer]));
  }

  private dispatch(request: Request, response: Response, next: NextFunction): void {
    // To OPTIONS a router would answer by itself when nothing else does.
    const router = request.method === 'OPTIONS' ? undefined : this.routers.get(beginningOf(request.path));
    if (router) router(request, response, next);
    else next();
  }

  private layersFor(path: string | undefined): Layer[] {
    const routers = path === undefined ? [...this.routers.values()] : [this.routers.get(beginningOf(path))];
    return routers.flatMap((router) => (router?.stack ?? []) as unknown as Layer[]);
  }

  private newRouter(): Router {
    const { app } = this;
    return Router({ caseSensitive: app.enabled('case sensitive routing'), strict: app.enabled('strict routing') });
  }
}

/** The first two segments, or what there is of them; in lower case, as the router makes no difference either. */
function beginningOf(path: string): string {
  const second = path.indexOf('/', 1);
  const third = second < 0 ? -1 : path.indexOf('/', second + 1);
  const end = third >= 0 ? third : path.endsWith('/') ? path.length - 1 : path.length;
  return path.slice(1, end).toLowerCase();
}

export function stackOf(app: Application): Layer[] {
  return (app.router as unknown as { stack: Layer[] }).stack;
}
