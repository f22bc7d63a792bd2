import { UnitOfWork } from '../../database/unit-of-work';

/** Runs a handler, or something in its place. */
export type AroundHandler = (handler: () => unknown) => Promise<unknown>;
type Handler = (this: unknown, ...values: unknown[]) => unknown;

const waiting = new WeakMap<UnitOfWork, AroundHandler>();

/** Runs the handler of this unit of work within `around`: interceptors come before Nest validates, which is too early. */
export function aroundHandler(unit: UnitOfWork, around: AroundHandler): void {
  waiting.set(unit, around);
}

/** Lets {@link aroundHandler} have the handler, when Nest calls it with all that its pipes have made. */
export const calledAround: MethodDecorator = (_target, name, descriptor) => {
  const handler = descriptor.value as Handler;
  const wrapper = function (this: unknown, ...values: unknown[]): unknown {
    const unit = UnitOfWork.current();
    const around = unit && waiting.get(unit);
    if (!around) return handler.apply(this, values);
    waiting.delete(unit);
    return around(() => handler.apply(this, values));
  };
  // Decorators that stand before it have said of the handler what is to be known of the wrapper.
  for (const key of Reflect.getMetadataKeys(handler) as unknown[]) {
    Reflect.defineMetadata(key, Reflect.getMetadata(key, handler), wrapper);
  }
  descriptor.value = Object.defineProperty(wrapper, 'name', { value: name }) as typeof descriptor.value;
};
