import { Reflector } from '@nestjs/core';

type Targets = Parameters<Reflector['getAllAndOverride']>[1];

type Values = Map<unknown, unknown>;

/** Caches the metadata of routes: reflect-metadata would search all prototypes for each request. */
export class RouteMetadata extends Reflector {
  /** Keyed by handler, then by controller, because two controllers may inherit the same handler. */
  private readonly known = new WeakMap<object, Map<object | undefined, Values>>();
  /**
   * The last look-up. The next one is mostly about the same route, and a look-up in the WeakMap takes ten times longer.
   */
  private last: [handler?: object, controller?: object] = [];
  private ofLast: Values = new Map<unknown, unknown>();

  override getAllAndOverride<T>(key: unknown, targets: Targets): T {
    const [handler, controller] = targets as [object, object | undefined];
    const isLast = handler === this.last[0] && controller === this.last[1];
    const values = isLast ? this.ofLast : this.valuesOf(handler, controller);
    if (!values.has(key)) values.set(key, super.getAllAndOverride(key as string, targets));
    return values.get(key) as T;
  }

  private valuesOf(handler: object, controller: object | undefined): Values {
    let controllers = this.known.get(handler);
    if (!controllers) this.known.set(handler, (controllers = new Map<object | undefined, Values>()));
    let values = controllers.get(controller);
    if (!values) controllers.set(controller, (values = new Map<unknown, unknown>()));
    this.last = [handler, controller];
    return (this.ofLast = values);
  }
}
