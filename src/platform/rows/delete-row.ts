import { type EntityManager, EntityNotFoundError, type EntityTarget, type ObjectLiteral } from 'typeorm';
import { removeEntity } from './entity-rows';
import { requireVersionOf } from '../transactions/expectation';
import { plainEntity } from './plain-entity';
import { runWrite } from './statement';
import { UnitOfWork } from '../transactions/unit-of-work';
import { whyNot } from './why-not';

/**
 * Deletes one row, if it is in a version that the caller expects; what refers to it goes with it, by the foreign keys. Of
 * many who delete it at once one finds it, and nobody finds a row that is hidden. One statement where that is all that
 * TypeORM would do, `repository.remove()` of the locked row elsewhere.
 * @throws {EntityNotFoundError}
 * @throws {StaleVersionError}
 */
export async function deleteRow<E extends ObjectLiteral & { id: number; version: number }>(
  manager: EntityManager,
  entity: EntityTarget<E>,
  id: number,
): Promise<void> {
  const plain = plainEntity(manager.dataSource, entity);
  if (!plain) return removeEntity(manager, entity, id);
  const expectation = UnitOfWork.current()?.takeExpectation();
  if (expectation) requireVersionOf(plain.metadata);
  const values: unknown[] = [id];
  const conditions = ['id = $1', ...(plain.present ? [plain.present] : []), ...(expectation?.conditions(values) ?? [])];
  const text = `DELETE FROM ${plain.table} WHERE ${conditions.join(' AND ')}`;
  if ((await runWrite(manager, text, values, 'id')).length > 0) return;
  throw expectation ? await whyNot(manager.getRepository(entity), id) : new EntityNotFoundError(entity, { id });
}
