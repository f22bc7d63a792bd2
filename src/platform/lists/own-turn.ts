import type { EntityManager } from 'typeorm';
import { isBound } from '../rows/statement';
import { withOwnConnection } from '../transactions/own-connection';
import { UnitOfWork } from '../transactions/unit-of-work';
import { inListLane } from './list-lane';

type Read<T> = (manager: EntityManager) => Promise<T>;

/** Reads when its network has its turn among lists, unless the work has a connection already. */
export function inOwnTurn<T>(manager: EntityManager, work: UnitOfWork, read: Read<T>): Promise<T> {
  // A list that waits for its turn must not hold a connection: the lists at work may need it.
  if (isBound(manager) || isWithinOthers(work)) return read(manager);
  return inListLane(manager.dataSource, work, () => withOwnConnection(manager.dataSource, work, read));
}

/** Reads at once, on a connection that ends with the request. */
export function onOwnConnection<T>(manager: EntityManager, work: UnitOfWork, read: Read<T>): Promise<T> {
  if (isBound(manager) || isWithinOthers(work)) return read(manager);
  return withOwnConnection(manager.dataSource, work, read);
}

/** Whether the current flow is another unit of work, or one that has a connection already. */
export function isWithinOthers(work: UnitOfWork): boolean {
  const current = UnitOfWork.current();
  return current !== undefined && (current !== work || work.clients.size > 0);
}
