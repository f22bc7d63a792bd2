import { Reflector } from '@nestjs/core';

type Targets = Parameters<Reflector['getAllAndOverride']>[1];

/** What decorators say of routes, kept: reflect-metadata looks along all prototypes, at each request again. */
export class RouteMetadata extends Reflector {
  private readonly known = new WeakMap<object, Map<unknown, unknown>>();
  /** The handler that was asked about last, mostly with more to ask: a look into the WeakMap takes ten times longer. */
  private last?: object;
  private ofLast = new Map<unknown, unknown>();

  override getAllAndOverride<T>(key: unknown, targets: Targets): T {
    // The handler, which belongs to one class.
    const [handler] = targets;
    const values = handler === this.last ? this.ofLast : this.valuesOf(handler);
    if (!values.has(key)) values.set(key, super.getAllAndOverride(key as string, targets));
    return values.get(key) as T;
  }

  private valuesOf(handler: object): Map<unknown, unknown> {
    let values = this.known.get(handler);
    if (!values) this.known.set(handler, (values = new Map<unknown, unknown>()));
    this.last = handler;
    this.ofLast = values;
    return values;
  }
}
