import { type AnyHandler, wrapped } from '../http/wrapped-handler';
import { type AroundHandler, UnitOfWork } from '../transactions/unit-of-work';

/**
 * Runs the handlers of a unit of work within `run`. Guards and interceptors couldn't do that, because they run before
 * Nest validates.
 */
export function aroundHandler(unit: UnitOfWork, run: AroundHandler): void {
  unit.aroundHandler = run;
}

/** Lets {@link aroundHandler} wrap the handler. */
export const calledAround: MethodDecorator = (_target, name, descriptor) => {
  descriptor.value = wrapped(descriptor.value as AnyHandler, name, (handler, values) => {
    const run = UnitOfWork.current()?.aroundHandler;
    return run ? run(() => handler(values)) : handler(values);
  }) as typeof descriptor.value;
};
