import type { RequestHandler } from 'express';

/** Metadata key of a controller's method. Nest copies the metadata of a method to the handler that it makes of it. */
const METHOD = 'resource-api:method';

/** A route as its controller declares it. */
export interface ControllerRoute {
  /** E.g. `UsersController`. */
  controller: string;
  /** E.g. `get`. */
  handler: string;
  owner: abstract new (...args: never[]) => unknown;
  /** The method, and its class. */
  targets: [method: object, owner: object];
}

const methods = new WeakMap<RequestHandler, object>();
/** Several controllers may inherit a method. */
const routesOfMethods = new WeakMap<object, ControllerRoute[]>();

/** Marks the methods of controllers, before Nest makes handlers of them. */
export function markControllerMethods(routes: ControllerRoute[]): void {
  for (const { targets } of routes) routesOfMethods.set(targets[0], []);
  for (const route of routes) {
    const [method] = route.targets;
    routesOfMethods.get(method)!.push(route);
    Reflect.defineMetadata(METHOD, method, method);
  }
}

/** Tells the method of a handler also of the handler that stands in for it in the routing table. */
export function standsFor(added: RequestHandler, handler: RequestHandler): void {
  const method = markedOf(handler);
  if (method) methods.set(added, method);
}

/** The controller's method that a handler of the routing table calls; undefined for other handlers. */
export function controllerMethodOf(handler: RequestHandler): object | undefined {
  return methods.get(handler);
}

/** The route of which Nest has made a handler. They are several if controllers inherit it and Nest doesn't say whose it is. */
export function routesOfHandler(handler: RequestHandler): ControllerRoute[] {
  const method = markedOf(handler);
  const routes = (method && routesOfMethods.get(method)) ?? [];
  // Nest names the handlers so, unless it compares them for `routeConflictPolicy`.
  const named = routes.filter((route) => nameOf(route) === handler.name);
  return named.length > 0 ? named : routes;
}

export const nameOf = ({ controller, handler }: ControllerRoute): string => `${controller}.${handler}`;

const markedOf = (handler: RequestHandler) => Reflect.getMetadata(METHOD, handler) as object | undefined;
