import type { EntityManager, EntityTarget, FindOptionsWhere, ObjectLiteral, Repository } from 'typeorm';
import { EntityNotFoundError } from 'typeorm';
import { updateEntity } from './entity-rows';
import { requireVersionOf } from '../transactions/expectation';
import { requireExpected } from '../transactions/require-expected';
import { plainEntity } from './plain-entity';
import { runWrite } from './statement';
import { UnitOfWork } from '../transactions/unit-of-work';
import { whyNot } from './why-not';

interface Row extends ObjectLiteral {
  id: number;
  version: number;
}

/**
 * Writes columns of one row and returns it, if it is in a version that the caller expects. A row that is hidden, or not
 * there, is not found; a write that changes nothing leaves `updated_at` and `version` alone (see the trigger `touch_row`).
 * One statement, which also compares the version, where that is all that TypeORM would do; `repository.save()` of the locked
 * row elsewhere.
 * @throws {EntityNotFoundError}
 * @throws {StaleVersionError}
 */
export async function updateRow<E extends Row>(
  manager: EntityManager,
  entity: EntityTarget<E>,
  id: number,
  columns: Partial<E>,
): Promise<E> {
  const plain = plainEntity(manager.dataSource, entity);
  const given = plain?.given(columns, 'isUpdate');
  if (!plain || !given) return updateEntity(manager, entity, id, columns);
  if (given.length === 0) return readExpected(manager.getRepository(entity), id);
  const expectation = UnitOfWork.current()?.takeExpectation();
  if (expectation) requireVersionOf(plain.metadata);
  const values: unknown[] = [id, ...given.map(({ value }) => value)];
  const changes = given.map(({ name }, index) => `${name} = $${index + 2}`);
  const conditions = ['id = $1', ...(plain.present ? [plain.present] : []), ...(expectation?.conditions(values) ?? [])];
  const text = `UPDATE ${plain.table} SET ${changes.join()} WHERE ${conditions.join(' AND ')}`;
  const [row] = await runWrite<E>(manager, text, values, plain.selection);
  if (row) return plain.toEntity(row);
  throw expectation ? await whyNot(manager.getRepository(entity), id) : new EntityNotFoundError(entity, { id });
}

async function readExpected<E extends Row>(repository: Repository<E>, id: number): Promise<E> {
  const row = await repository.findOneByOrFail({ id } as FindOptionsWhere<E>);
  requireExpected(row);
  return row;
}
