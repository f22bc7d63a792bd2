import type { ExecutionContext } from '@nestjs/common';

type Handler = ReturnType<ExecutionContext['getHandler']>;
type Controller = ReturnType<ExecutionContext['getClass']>;

interface Entry<T> {
  controller: Controller;
  value: T;
  /** The entry of another controller with the same handler, e.g. when both inherit it. */
  next?: Entry<T>;
}

/** Caches a value for each route. Without it, metadata would be looked up along prototypes for each request. */
export class PerRoute<T> {
  private readonly known = new WeakMap<Handler, Entry<T>>();

  constructor(private readonly find: (handler: Handler, controller: Controller) => T) {}

  of(context: ExecutionContext): T {
    return this.for(context.getHandler(), context.getClass());
  }

  for(handler: Handler, controller: Controller): T {
    const first = this.known.get(handler);
    for (let entry = first; entry; entry = entry.next) if (entry.controller === controller) return entry.value;
    const value = this.find(handler, controller);
    this.known.set(handler, { controller, value, next: first });
    return value;
  }
}
