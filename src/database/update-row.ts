import type { EntityManager, EntityTarget, FindOptionsWhere, ObjectLiteral } from 'typeorm';
import { EntityNotFoundError } from 'typeorm';

/**
 * Writes columns of one row and returns it, in one statement. A row that is hidden, or not there, is not found; a write
 * that changes nothing leaves `updated_at` and `version` alone (see the trigger `touch_row`).
 * @throws {EntityNotFoundError}
 */
export async function updateRow<E extends ObjectLiteral & { id: number }>(
  manager: EntityManager,
  entity: EntityTarget<E>,
  id: number,
  columns: Partial<E>,
): Promise<E> {
  const repository = manager.getRepository(entity);
  const where = { id } as FindOptionsWhere<E>;
  if (Object.values(columns).every((value) => value === undefined)) return repository.findOneByOrFail(where);
  const update = repository.createQueryBuilder().update().set(columns).where(where);
  if (repository.metadata.deleteDateColumn)
    update.andWhere(`${repository.metadata.deleteDateColumn.databaseName} IS NULL`);
  const result = await update.returning('*').execute();
  const row = (result.raw as E[])[0];
  if (!row) throw new EntityNotFoundError(entity, where);
  // Columns are named like the properties, and the driver has parsed their values.
  return Object.assign(repository.create(), row);
}
