import type { EntityManager, EntityTarget, ObjectLiteral } from 'typeorm';
import { insertEntity } from './entity-rows';
import { plainEntity } from './plain-entity';
import { runWrite } from './statement';

/**
 * Writes a new row and returns it. Columns that are undefined take their default. One statement where that is all that
 * TypeORM would do, `repository.save()` elsewhere.
 */
export async function insertRow<E extends ObjectLiteral & { id: number }>(
  manager: EntityManager,
  entity: EntityTarget<E>,
  columns: Partial<E>,
): Promise<E> {
  const plain = plainEntity(manager.dataSource, entity);
  const given = plain?.given(columns, 'isInsert');
  if (!plain || !given) return insertEntity(manager, entity, columns);
  const names = given.map(({ name }) => name).join();
  const places = given.map((_, index) => `$${index + 1}`).join();
  const values = given.map(({ value }) => value);
  const what = given.length > 0 ? `(${names}) VALUES (${places})` : 'DEFAULT VALUES';
  const [row] = await runWrite<E>(manager, `INSERT INTO ${plain.table} ${what}`, values, plain.selection);
  return plain.toEntity(row);
}
