import {
  type EntityManager,
  EntityNotFoundError,
  type EntityTarget,
  type FindOptionsWhere,
  type ObjectLiteral,
} from 'typeorm';

/**
 * Deletes one row; what refers to it goes with it, by the foreign keys. Of many who delete it at once one finds it.
 * @throws {EntityNotFoundError}
 */
export async function deleteRow<E extends ObjectLiteral & { id: number }>(
  manager: EntityManager,
  entity: EntityTarget<E>,
  id: number,
): Promise<void> {
  const where = { id } as FindOptionsWhere<E>;
  const { affected } = await manager.delete(entity, where);
  if (!affected) throw new EntityNotFoundError(entity, where);
}
