import { METHODS } from 'node:http';
import { METHOD_METADATA } from '@nestjs/common/constants';
import type { ErrorRequestHandler, Express, RequestHandler } from 'express';
import { StartupError } from '../config/startup-error';
import { type Layer, RouteIndex, type RouteLayer, type RouteMethod, stackOf } from './route-index';
import { isMiddleware, markMiddleware, onlyIn, serves, tablePathOf } from './route-versions';
import { type Version, VERSIONS } from '../http/api-version';
import { API_PREFIX, toPathAsSent, toTablePath, withUrlAsSent } from './version';

/** Those that the index knows. It leaves OPTIONS out, which a route for all methods may be for as well. */
const INDEXED = ['get', 'post', 'put', 'patch', 'delete'];
const BELOW_PREFIX = new RegExp(`^/${API_PREFIX}(?!/v\\d+(?:/|$))(?=/|$)`, 'i');

type Add = (path: unknown, ...handlers: unknown[]) => unknown;
type Router = Record<string, (path: string, handler: RequestHandler) => { stack: Layer[] }>;

/** A route of a controller, which Nest adds once for each of its versions. */
interface Served {
  path: string;
  versions: Set<Version>;
  handler: RequestHandler;
  /** What the router calls. */
  layers: RouteLayer[];
}

/**
 * The routes of the application. Those of controllers stand in it once, without a version, by an index. What is added by hand
 * is as Express documents it: its path is the one that the client sent, and one below /api is there in every version.
 */
export class RoutingTable {
  /** By handler, and then by method and path. */
  private readonly served = new Map<RequestHandler, Map<string, Served>>();
  /** What is asked after all the rest. */
  private readonly last: Layer[] = [];
  /** Whether what is added now sees paths without their version. */
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

  /** Adds what is asked when nothing else has answered, whenever that is added. */
  addLast(handler: RequestHandler | ErrorRequestHandler): void {
    this.requireReachable();
    this.turn(false);
    this.app.router.use(handler);
    this.last.push(stackOf(this.app).at(-1)!);
  }

  private adapt(method: string): void {
    const add = (this.app as unknown as Record<string, Add>)[method];
    const adapted: Add = (path, ...handlers) => {
      // app.get(name) is a setting.
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
    if (!routes) this.served.set(handler, (routes = new Map<string, Served>()));
    let served = routes.get(key);
    if (!served) routes.set(key, (served = this.serve(method, path, handler)));
    for (const one of version ? [version] : VERSIONS) served.versions.add(one);
    if (!isInAll(served)) return;
    for (const layer of served.layers) layer.handle = served.handler;
    serves(served.handler, served.versions);
  }

  private serve(method: string, path: string, handler: RequestHandler): Served {
    this.turn(true);
    const versions = new Set<Version>();
    const adapted = withUrlAsSent(method === 'get' ? handler : inUnitOfWork(handler));
    const filtered = onlyIn(versions, adapted);
    serves(filtered, versions);
    const indexed = INDEXED.includes(method) ? RouteIndex.routerFor(this.app, path) : undefined;
    const router = (indexed ?? this.app.router) as unknown as Router;
    const layers = router[method](path, filtered).stack.at(-1)!.route!.stack;
    return { path, versions, handler: adapted, layers };
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

  /** A path outside of the API names no version. */
  private requireReachable(): void {
    const routes = [...this.served.values()].flatMap((ofHandler) => [...ofHandler.values()]);
    const lost = routes.filter((route) => !isInAll(route) && !BELOW_PREFIX.test(route.path));
    if (lost.length === 0) return;
    throw new StartupError(
      `These routes are outside of /${API_PREFIX}, where no version is asked for, and could never be reached; take @Version() ` +
        `off, or put them below the prefix:\n${lost.map(({ path }) => `  - ${path}`).join('\n')}`,
    );
  }
}

const isInAll = ({ versions }: Served) => versions.size === VERSIONS.length;

/** Nest leaves what is known of a controller's method with what it adds. */
function isOfController(handler: unknown): handler is RequestHandler {
  return typeof handler === 'function' && Reflect.hasMetadata(METHOD_METADATA, handler);
}

/** What handles errors, in the list of a route, has one parameter more. */
function isHandler(one: unknown): one is RequestHandler {
  return typeof one === 'function' && one.length < 4;
}

/** A path of the API is one in each version, unless it names one. */
function below(path: unknown): unknown {
  if (Array.isArray(path)) return path.some((one) => typeof one === 'function') ? path : path.flatMap(below);
  if (typeof path !== 'string' || !BELOW_PREFIX.test(path)) return path;
  const rest = path.slice(API_PREFIX.length + 1);
  return [path, ...VERSIONS.map((version) => `/${API_PREFIX}/v${version}${rest}`)];
}

/** All that such a route does in the database ends with its request. What only reads is ended by the database itself. */
function inUnitOfWork(handler: RequestHandler): RequestHandler {
  return (request, response, next) =>
    request.work!.run(async () => {
      try {
        await handler(request, response, next);
      } finally {
        // Of a request with a key that was answered by an exception filter, say.
        if (request.keyed) await request.keyed.giveUp();
      }
    });
}

/** The same for one that may return long before it answers or passes the request on. */
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
