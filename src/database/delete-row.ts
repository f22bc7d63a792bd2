import { type EntityManager, EntityNotFoundError, type EntityTarget, type ObjectLiteral } from 'typeorm';
import { runStatement } from './statement';
import { UnitOfWork } from './unit-of-work';
import { whyNot } from './update-row';

/**
 * Deletes one row, if it is in a version that the caller expects; what refers to it goes with it, by the foreign keys. Of
 * many who delete it at once one finds it.
 * @throws {EntityNotFoundError}
 * @throws {StaleVersionError}
 */
export async function deleteRow<E extends ObjectLiteral & { id: number; version: number }>(
  manager: EntityManager,
  entity: EntityTarget<E>,
  id: number,
): Promise<void> {
  const repository = manager.getRepository(entity);
  const expectation = UnitOfWork.current()?.takeExpectation();
  const values: unknown[] = [id];
  const conditions = ['id = $1', ...(expectation?.conditions(values) ?? [])];
  const text = `DELETE FROM "${repository.metadata.tableName}" WHERE ${conditions.join(' AND ')} RETURNING id`;
  if ((await runStatement(manager, text, values)).length > 0) return;
  throw expectation ? await whyNot(repository, id) : new EntityNotFoundError(entity, { id });
}
