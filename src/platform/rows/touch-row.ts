import type { EntityManager, EntityTarget, FindOptionsWhere } from 'typeorm';
import { type Precondition, requireVersionOf } from '../transactions/precondition';
import { ExpectedRow, type VersionedRow } from './expected-row';
import { tableOf } from './plain-entity';
import { runStatement } from './statement';

/**
 * Gives a row the next version, and `updated_at` the present, if it is in a version that the caller expects: for a change of
 * what its representation shows beside its columns, such as its tags or its lines. In the transaction of that change, and
 * before it, so that of two who make one at once the second sees what the first did.
 * @param expected the value of `@IfMatch()`. Default: that of the request, for the first row that it writes
 * @throws {EntityNotFoundError}
 * @throws {StaleVersionError}
 */
export async function touchRow<E extends VersionedRow>(
  manager: EntityManager,
  entity: EntityTarget<E>,
  id: number,
  expected?: Precondition,
): Promise<E> {
  const repository = manager.getRepository(entity);
  requireVersionOf(repository.metadata);
  const row = new ExpectedRow(manager, entity, id, expected);
  const version = row.column('version');
  const values: unknown[] = [];
  const where = row.condition(values);
  const text = `UPDATE ${tableOf(repository.metadata)} SET ${version} = ${version} + 1 WHERE ${where} RETURNING 1`;
  const touched = await runStatement(manager, text, values);
  if (touched.length === 0) throw await row.reasonForMiss();
  return repository.findOneByOrFail({ id } as FindOptionsWhere<E>);
}
