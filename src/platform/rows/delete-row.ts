import type { EntityManager, EntityTarget } from 'typeorm';
import type { Precondition } from '../transactions/precondition';
import { removeEntity } from './entity-rows';
import { ExpectedRow, type VersionedRow } from './expected-row';
import { plainEntity } from './plain-entity';
import { runWrite } from './statement';

/**
 * Deletes one row, if its version is the expected one. Foreign keys delete the rows that refer to it. Of concurrent
 * calls one finds the row. A hidden row isn't found. It is one statement if TypeORM would do nothing more, otherwise
 * `repository.remove()` of the locked row.
 * @param expected the value of `@IfMatch()`. Default: that of the request, for the first row that it writes
 * @throws {EntityNotFoundError}
 * @throws {StaleVersionError}
 */
export async function deleteRow<E extends VersionedRow>(
  manager: EntityManager,
  entity: EntityTarget<E>,
  id: number,
  expected?: Precondition,
): Promise<void> {
  const plain = plainEntity(manager.dataSource, entity);
  if (!plain) return removeEntity(manager, entity, id, expected);
  const row = new ExpectedRow(manager, entity, id, expected);
  const values: unknown[] = [];
  const text = `DELETE FROM ${plain.table} WHERE ${row.condition(values)}`;
  const deleted = await runWrite(manager, text, values, 'id');
  if (deleted.length === 0) throw await row.reasonForMiss();
}
