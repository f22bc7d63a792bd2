import type { DataSource, EntityManager } from 'typeorm';
import { hasOwnPool, poolOf } from './cancellable-pool';
import type { UnitOfWork } from './unit-of-work';

/**
 * Runs statements one after the other on a connection that a unit of work holds, and so ends. Lists do it by this and not by
 * {@link UnitOfWork.run}: Node would follow every promise of the process, which nearly doubles what a list costs.
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
