import { UnitOfWork } from './unit-of-work';

/**
 * Runs work that belongs to no request, such as a job of a queue. The time limit of requests doesn't apply to its
 * statements.
 * @param limit milliseconds for each statement; 0 for none
 */
export function inBackground<T>(work: () => T | Promise<T>, limit = 0): Promise<T> {
  const unit = new UnitOfWork();
  unit.statementLimit = limit;
  return unit.run(work);
}
