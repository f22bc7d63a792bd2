import { Reflector } from '@nestjs/core';

type Targets = Parameters<Reflector['getAllAndOverride']>[1];

/** What decorators say of routes, kept: reflect-metadata looks along all prototypes, at each request again. */
export class RouteMetadata extends Reflector {
  private readonly known = new WeakMap<object, Map<unknown, unknown>>();

  override getAllAndOverride<T>(key: unknown, targets: Targets): T {
    // The handler, which belongs to one class.
    const [handler] = targets;
    let values = this.known.get(handler);
    if (!values) this.known.set(handler, (values = new Map<unknown, unknown>()));
    if (!values.has(key)) values.set(key, super.getAllAndOverride(key as string, targets));
    return values.get(key) as T;
  }
}
