import type { EntityManager, EntityMetadata, ObjectLiteral } from 'typeorm';
import { type Precondition, requireVersionOf } from './precondition';
import { preconditionFor, requireExpected } from './require-expected';

interface LockOptions {
  /** The precondition that was passed to the writer. Default: the request's own, for the first row that it writes */
  expected?: Precondition;
  /** Whether hidden rows are locked as well. Default: false */
  withDeleted?: boolean;
}

/**
 * Locks a row until the transaction ends, if its version is the expected one, so that a later write changes the
 * compared version. Other rows may still refer to the row meanwhile.
 * @param id the id of the row, or its whole primary key
 * @returns false if there is no such row
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
