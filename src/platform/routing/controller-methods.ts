import type { RequestHandler } from 'express';

/** Metadata key of a controller's method. Nest copies the metadata of a method to the handler that it makes of it. */
const METHOD = 'resource-api:method';

const methods = new WeakMap<RequestHandler, object>();

/** Marks the methods of controllers, before Nest makes handlers of them. */
export function markControllerMethods(marked: object[]): void {
  for (const method of marked) Reflect.defineMetadata(METHOD, method, method);
}

/** Tells the method of a handler also of the handler that stands in for it in the routing table. */
export function standsFor(added: RequestHandler, handler: RequestHandler): void {
  const method = Reflect.getMetadata(METHOD, handler) as object | undefined;
  if (method) methods.set(added, method);
}

/** The controller's method that a handler of the routing table calls; undefined for other handlers. */
export function controllerMethodOf(handler: RequestHandler): object | undefined {
  return methods.get(handler);
}
