import type { UnitOfWork } from '../transactions/unit-of-work';
import { CONFIRM, type ListQuery } from './list-query';

/** The units of work whose lists have waited for their turn. */
const waits = new WeakSet<UnitOfWork>();

/** Records that a list has waited. Other callers determine how long that takes. */
export function noteWait(unit: UnitOfWork | undefined): void {
  if (unit) waits.add(unit);
}

/**
 * Reads a list, and looks its caller up again if the list has waited, because the guards' decision may be out of date.
 * The look-up comes after the read, so that it covers the wait for a connection as well. A caller who is still admitted
 * then may see the result.
 * @throws {AuthenticationError} when the caller is no longer admitted
 */
export async function readConfirmed<T>(query: ListQuery, work: UnitOfWork, read: () => Promise<T>): Promise<T> {
  const result = await read();
  if (waits.has(work)) await query[CONFIRM]?.();
  return result;
}
