import { UnitOfWork } from '../transactions/unit-of-work';

/** Runs a handler, or something instead of it. */
export type AroundHandler = (handler: () => unknown) => unknown;
type Handler = (this: unknown, ...values: unknown[]) => unknown;

const around = new WeakMap<UnitOfWork, AroundHandler>();

/**
 * Runs the handlers of a unit of work within `run`. Guards and interceptors couldn't do that, because they run before
 * Nest validates.
 */
export function aroundHandler(unit: UnitOfWork, run: AroundHandler): void {
  around.set(unit, run);
}

/** Lets {@link aroundHandler} wrap the handler. Nest calls the wrapper with the arguments that its pipes have made. */
export const calledAround: MethodDecorator = (_target, name, descriptor) => {
  const handler = descriptor.value as Handler;
  const wrapper = function (this: unknown, ...values: unknown[]): unknown {
    const unit = UnitOfWork.current();
    const run = unit && around.get(unit);
    return run ? run(() => handler.apply(this, values)) : handler.apply(this, values);
  };
  // Copies the metadata of decorators that were applied before this one.
  for (const key of Reflect.getMetadataKeys(handler) as unknown[]) {
    Reflect.defineMetadata(key, Reflect.getMetadata(key, handler), wrapper);
  }
  descriptor.value = Object.defineProperty(wrapper, 'name', { value: name }) as typeof descriptor.value;
};
