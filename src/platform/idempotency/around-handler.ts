import { type AnyHandler, wrapped } from '../http/wrapped-handler';
import { UnitOfWork } from '../transactions/unit-of-work';

/** Runs a handler, or something instead of it. */
export type AroundHandler = (handler: () => unknown) => unknown;

const around = new WeakMap<UnitOfWork, AroundHandler>();

/**
 * Runs the handlers of a unit of work within `run`. Guards and interceptors couldn't do that, because they run before
 * Nest validates.
 */
export function aroundHandler(unit: UnitOfWork, run: AroundHandler): void {
  around.set(unit, run);
}

/** Lets {@link aroundHandler} wrap the handler. */
export const calledAround: MethodDecorator = (_target, name, descriptor) => {
  descriptor.value = wrapped(descriptor.value as AnyHandler, name, (handler, values) => {
    const unit = UnitOfWork.current();
    const run = unit && around.get(unit);
    return run ? run(() => handler(values)) : handler(values);
  }) as typeof descriptor.value;
};
