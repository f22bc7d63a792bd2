import type { EntityManager, EntityMetadata, ObjectLiteral } from 'typeorm';
import { requireVersionOf } from './expectation';
import { requireExpected } from './require-expected';
import { UnitOfWork } from './unit-of-work';

/**
 * Locks a row until the transaction ends, if it is in a version that the caller expects: whoever writes it afterwards
 * writes what was compared. Weak enough for others to refer to the row meanwhile.
 * @param id of the row, or its whole primary key
 * @returns whether there is such a row
 * @throws {StaleVersionError}
 */
export async function lockExpected(
  manager: EntityManager,
  metadata: EntityMetadata,
  id: unknown,
  { withDeleted = false } = {},
): Promise<boolean> {
  const expects = UnitOfWork.current()?.expects ?? false;
  if (expects) requireVersionOf(metadata);
  const builder = manager.createQueryBuilder(metadata.target, 'locked').whereInIds(id);
  if (withDeleted) builder.withDeleted();
  const row = await builder
    .select(expects ? 'locked.version' : '1', 'version')
    .setLock('for_no_key_update')
    .getRawOne<ObjectLiteral & { version: number }>();
  if (row && expects) requireExpected(row);
  return row !== undefined;
}
