import type { UnitOfWork } from '../transactions/unit-of-work';
import { CONFIRM, type ListQuery } from './list-query';

/** What has waited in a lane for its turn. */
const waits = new WeakSet<UnitOfWork>();

/** Notes that a list has waited: others choose how long that takes. */
export function noteWait(unit: UnitOfWork | undefined): void {
  if (unit) waits.add(unit);
}

/**
 * Reads a list, and looks its caller up again where the list has waited: what the guards found out has grown old. After the
 * read and not before, so that it covers the wait for a connection as well; a caller who has lost nothing by then may see what
 * was read for it.
 * @throws {AuthenticationError} when the caller has lost what it was let in by
 */
export async function readConfirmed<T>(query: ListQuery, work: UnitOfWork, read: () => Promise<T>): Promise<T> {
  const result = await read();
  if (waits.has(work)) await query[CONFIRM]?.();
  return result;
}
