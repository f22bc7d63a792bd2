import { UnitOfWork } from './unit-of-work';

/**
 * Runs what belongs to no request, such as a job of a queue: its statements aren't limited by a request's time.
 * @param limit milliseconds for each statement, 0 for any time
 */
export function inBackground<T>(work: () => T | Promise<T>, limit = 0): Promise<T> {
  const unit = new UnitOfWork();
  unit.statementLimit = limit;
  return unit.run(work);
}
