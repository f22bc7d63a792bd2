import type { EntityManager, EntityTarget, ObjectLiteral } from 'typeorm';
import { writeTogether } from './batched-write';
import { insertEntity } from './entity-rows';
import { plainEntity } from './plain-entity';
import { rememberRefused } from './refused-writes';
import { runWrite } from './statement';

/**
 * Inserts a row and returns it. Undefined columns get their defaults. It is one statement if TypeORM would do nothing
 * more, otherwise `repository.save()`.
 */
export function insertRow<E extends ObjectLiteral & { id: number }>(
  manager: EntityManager,
  entity: EntityTarget<E>,
  columns: Partial<E>,
): Promise<E> {
  return rememberRefused({ manager, entity, values: columns }, () => insert(manager, entity, columns));
}

async function insert<E extends ObjectLiteral & { id: number }>(
  manager: EntityManager,
  entity: EntityTarget<E>,
  columns: Partial<E>,
): Promise<E> {
  const plain = plainEntity(manager.dataSource, entity);
  const given = plain?.given(columns, 'isInsert');
  if (!plain || !given) return insertEntity(manager, entity, columns);
  const row = await writeTogether<E>(manager, plain, { given }, async () => {
    const names = given.map(({ name }) => name).join();
    const places = given.map((_, index) => `$${index + 1}`).join();
    const values = given.map(({ value }) => value);
    const what = given.length > 0 ? `(${names}) VALUES (${places})` : 'DEFAULT VALUES';
    const [inserted] = await runWrite<E>(manager, `INSERT INTO ${plain.table} ${what}`, values, plain.selection);
    return inserted;
  });
  return plain.toEntity(row!);
}
