import { METHODS } from 'node:http';
import { METHOD_METADATA } from '@nestjs/common/constants';
import type { ErrorRequestHandler, Express, RequestHandler } from 'express';
import { StartupError } from '../config/startup-error';
import { type Layer, RouteIndex, type RouteMethod, stackOf } from './route-index';
import { requireParameters } from './required-parameters';
import { preferNamed, requireAnswering } from './route-order';
import { standsFor } from './controller-methods';
import { isMiddleware, markMiddleware, tablePathOf } from './route-versions';
import { ServedRoute } from './served-route';
import { VERSIONS } from '../http/api-version';
import { API_PREFIX, toPathAsSent, toTablePath, withUrlAsSent } from './version';

/** The methods of the index. OPTIONS is left out, because a route for all methods may also serve it. */
const INDEXED = ['get', 'post', 'put', 'patch', 'delete'];
const BELOW_PREFIX = new RegExp(`^/${API_PREFIX}(?!/v\\d+(?:/|$))(?=/|$)`, 'i');

type Add = (path: unknown, ...handlers: unknown[]) => unknown;
type Router = Record<string, (path: string, handler: RequestHandler) => { stack: Layer[] }>;

/**
 * The routes of the application. A controller's route is added once, without a version, to an index. A route that is
 * added by hand behaves like in Express: its path is the one that the client sends, and below /api it exists in every
 * version.
 */
export class RoutingTable {
  /** By handler, then by method and path. */
  private readonly served = new Map<RequestHandler, Map<string, ServedRoute>>();
  /** Handlers that run after all others. */
  private readonly last: Layer[] = [];
  /** True while added handlers see paths without a version. */
  private isOfControllers = false;

  constructor(private readonly app: Express) {
    for (const method of METHODS) this.adapt(method.toLowerCase());
    this.adapt('all');
    const { use, route, param } = app as unknown as Record<string, Add>;
    const byHand = (add: Add, path: unknown, rest: unknown[]) => {
      this.turn(false);
      const added = add.call(app, below(path), ...rest);
      this.keepLast();
      return added;
    };
    Object.assign(app, {
      use: (path: unknown, ...rest: unknown[]) => byHand(use, path, rest),
      route: (path: unknown) => Object.assign(byHand(route, path, []) as object, { path }),
      param: (...args: [unknown, ...unknown[]]) => {
        RouteIndex.dissolve(app);
        return param.apply(app, args);
      },
    });
  }

  /** Adds a handler that runs when no other has answered, even those that are added later. */
  addLast(handler: RequestHandler | ErrorRequestHandler): void {
    this.turn(false);
    this.app.router.use(handler);
    this.last.push(stackOf(this.app).at(-1)!);
  }

  private adapt(method: string): void {
    const add = (this.app as unknown as Record<string, Add>)[method];
    const adapted: Add = (path, ...handlers) => {
      // app.get(name) reads a setting.
      if (method === 'get' && handlers.length === 0) return add.call(this.app, path);
      const [handler] = handlers;
      if (isOfController(handler)) this.addOfController(method, path as string, handler);
      else this.addByHand(method, add, path, handlers);
      return this.app;
    };
    Object.assign(this.app, { [method]: adapted });
  }

  private addByHand(method: string, add: Add, path: unknown, handlers: unknown[]): void {
    const mayWrite = method !== 'get';
    const adapted = handlers.flat(Infinity).map((one) => (mayWrite && isHandler(one) ? inLongUnitOfWork(one) : one));
    this.turn(false);
    const isIndexed = INDEXED.includes(method) && below(path) === path;
    const router = isIndexed ? RouteIndex.routerFor(this.app, path) : undefined;
    if (router) (router[method as RouteMethod] as Add).call(router, path, ...adapted);
    else add.call(this.app, path, ...adapted);
    this.keepLast();
  }

  private addOfController(method: string, versionedPath: string, handler: RequestHandler): void {
    const { path, version } = tablePathOf(versionedPath);
    const key = `${method} ${path}`;
    let routes = this.served.get(handler);
    if (!routes) this.served.set(handler, (routes = new Map<string, ServedRoute>()));
    let served = routes.get(key);
    if (!served) routes.set(key, (served = this.serve(method, path, handler)));
    for (const one of version ? [version] : VERSIONS) served.versions.add(one);
    served.update();
  }

  private serve(method: string, path: string, handler: RequestHandler): ServedRoute {
    this.turn(true);
    const adapted = withUrlAsSent(method === 'get' ? handler : inUnitOfWork(handler));
    const served = new ServedRoute(method, path, handler, adapted);
    for (const added of [served.filtered, adapted]) standsFor(added, handler);
    const indexed = INDEXED.includes(method) ? RouteIndex.routerFor(this.app, path, toTablePath) : undefined;
    const router = (indexed ?? this.app.router) as unknown as Router;
    served.stack = router[method](path, served.filtered).stack;
    served.layer = served.stack.at(-1)!;
    return served;
  }

  private turn(toControllers: boolean): void {
    if (this.isOfControllers === toControllers) return;
    this.isOfControllers = toControllers;
    this.app.router.use(toControllers ? toTablePath : toPathAsSent);
  }

  private keepLast(): void {
    const stack = stackOf(this.app);
    for (const layer of this.last) stack.push(...stack.splice(stack.indexOf(layer), 1));
  }

  /**
   * Completes the table when Nest has added all controllers.
   * @param mayRepeat true if a route may be declared twice
   * @throws {StartupError} for routes that no request could reach
   */
  settle(mayRepeat: boolean): void {
    const routes = [...this.served.values()].flatMap((ofHandler) => [...ofHandler.values()]);
    requireReachable(routes);
    requireParameters(routes);
    preferNamed(routes, this.app);
    if (!mayRepeat) requireAnswering(routes);
  }
}

/** Refuses routes outside of the API that are limited to some versions, as no request could name one. */
function requireReachable(routes: ServedRoute[]): void {
  const lost = routes.filter((route) => !route.isInAll && !BELOW_PREFIX.test(route.path));
  if (lost.length === 0) return;
  throw new StartupError(
    `These routes are outside of /${API_PREFIX}, where no version is asked for, and could never be reached; take @Version() ` +
      `off, or put them below the prefix:\n${lost.map(({ path }) => `  - ${path}`).join('\n')}`,
  );
}

/** Nest leaves its metadata of a controller's method on the handler that it adds. */
function isOfController(handler: unknown): handler is RequestHandler {
  return typeof handler === 'function' && Reflect.hasMetadata(METHOD_METADATA, handler);
}

/** An error handler in the list of a route has a fourth parameter. */
function isHandler(one: unknown): one is RequestHandler {
  return typeof one === 'function' && one.length < 4;
}

/** The path in all versions, unless it names one. */
function below(path: unknown): unknown {
  if (Array.isArray(path)) return path.some((one) => typeof one === 'function') ? path : path.flatMap(below);
  if (typeof path !== 'string' || !BELOW_PREFIX.test(path)) return path;
  const rest = path.slice(API_PREFIX.length + 1);
  return [path, ...VERSIONS.map((version) => `/${API_PREFIX}/v${version}${rest}`)];
}

/**
 * Runs a handler in the unit of work of its request, so that its database work ends with the request. Reads are ended
 * separately.
 */
function inUnitOfWork(handler: RequestHandler): RequestHandler {
  return (request, response, next) =>
    request.work!.run(async () => {
      try {
        await handler(request, response, next);
      } finally {
        // E.g. when an exception filter has answered a request with a key.
        if (request.keyed) await request.keyed.giveUp();
      }
    });
}

/** The same for a handler that may return long before it answers or passes the request on. */
function inLongUnitOfWork(handler: RequestHandler): RequestHandler {
  const adapted: RequestHandler = (request, response, next) =>
    request.work!.run(() => {
      const over = new Promise<void>((resolve) => response.once('close', resolve));
      const returned: unknown = handler(request, response, next);
      return returned instanceof Promise ? (returned as Promise<void>) : over;
    });
  if (isMiddleware(handler)) markMiddleware(adapted);
  return adapted;
}
