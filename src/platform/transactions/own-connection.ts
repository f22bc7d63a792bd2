import type { DataSource, EntityManager } from 'typeorm';
import { hasOwnPool, poolOf } from './cancellable-pool';
import type { UnitOfWork } from './unit-of-work';

/**
 * Runs statements in sequence on a connection that belongs to a unit of work, and so ends with it. Lists use this
 * instead of {@link UnitOfWork.run}: with that, Node would follow every promise of the process, which nearly doubles
 * the cost of a list.
 */
export async function withOwnConnection<T>(
  database: DataSource,
  unit: UnitOfWork,
  statements: (manager: EntityManager) => Promise<T>,
): Promise<T> {
  if (!hasOwnPool(database)) return statements(database.manager);
  const runner = database.createQueryRunner();
  try {
    await poolOf(database).connectingFor(unit, () => runner.connect() as Promise<unknown>);
    return await statements(runner.manager);
  } finally {
    await runner.release();
  }
}
