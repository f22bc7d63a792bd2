import { UnitOfWork } from '../transactions/unit-of-work';

/** Runs a handler, or something in its place. */
export type AroundHandler = (handler: () => unknown) => unknown;
type Handler = (this: unknown, ...values: unknown[]) => unknown;

const around = new WeakMap<UnitOfWork, AroundHandler>();

/** Runs the handlers of this unit of work within `run`: guards and interceptors come before Nest validates, too early. */
export function aroundHandler(unit: UnitOfWork, run: AroundHandler): void {
  around.set(unit, run);
}

/** Lets {@link aroundHandler} have the handler, when Nest calls it with all that its pipes have made. */
export const calledAround: MethodDecorator = (_target, name, descriptor) => {
  const handler = descriptor.value as Handler;
  const wrapper = function (this: unknown, ...values: unknown[]): unknown {
    const unit = UnitOfWork.current();
    const run = unit && around.get(unit);
    return run ? run(() => handler.apply(this, values)) : handler.apply(this, values);
  };
  // Decorators that stand before it have said of the handler what is to be known of the wrapper.
  for (const key of Reflect.getMetadataKeys(handler) as unknown[]) {
    Reflect.defineMetadata(key, Reflect.getMetadata(key, handler), wrapper);
  }
  descriptor.value = Object.defineProperty(wrapper, 'name', { value: name }) as typeof descriptor.value;
};
