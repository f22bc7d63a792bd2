import type { UnitOfWork } from '../transactions/unit-of-work';
import { CONFIRM, type ListQuery } from './list-query';

/**
 * Reads a list, and looks its caller up again if the list has waited: other callers determine how long that takes. The
 * look-up comes after the read, so that it covers the wait for a connection as well. A caller who is still admitted
 * then may see the result.
 * @throws {AuthenticationError} when the caller is no longer admitted
 */
export async function readConfirmed<T>(query: ListQuery, work: UnitOfWork, read: () => Promise<T>): Promise<T> {
  const result = await read();
  if (work.waitedLong) await query[CONFIRM]?.();
  return result;
}
