import type { EntityManager, EntityMetadata, ObjectLiteral } from 'typeorm';
import { type Precondition, requireVersionOf } from './precondition';
import { preconditionFor, requireExpected } from './require-expected';

interface LockOptions {
  /** What the writer of the row was passed. Default: what the request demands of the first row that it writes */
  expected?: Precondition;
  /** Rows that are hidden as well. Default: false */
  withDeleted?: boolean;
}

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
  { expected, withDeleted = false }: LockOptions = {},
): Promise<boolean> {
  const precondition = preconditionFor(expected);
  if (precondition) requireVersionOf(metadata);
  const builder = manager.createQueryBuilder(metadata.target, 'locked').whereInIds(id);
  if (withDeleted) builder.withDeleted();
  const row = await builder
    .select(precondition ? 'locked.version' : '1', 'version')
    .setLock('for_no_key_update')
    .getRawOne<ObjectLiteral & { version: number }>();
  if (row && precondition) requireExpected(row, precondition);
  return row !== undefined;
}
