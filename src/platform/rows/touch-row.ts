import type { EntityManager, EntityTarget, FindOptionsWhere } from 'typeorm';
import { type Precondition, requireVersionOf } from '../transactions/precondition';
import { ExpectedRow, type VersionedRow } from './expected-row';
import { tableOf } from './plain-entity';
import { runStatement } from './statement';

/**
 * Increments the version of a row and updates `updated_at`, if the version is the expected one. For changes of other
 * tables that the representation shows, such as tags or order lines. Call it in the same transaction before the change,
 * so that the second of two concurrent changes sees the first.
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
