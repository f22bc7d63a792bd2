import type { EntityManager, EntityTarget, FindOptionsWhere, ObjectLiteral, Repository } from 'typeorm';
import { EntityNotFoundError } from 'typeorm';
import { requireExpected, StaleVersionError } from './expectation';
import { runStatement } from './statement';
import { UnitOfWork } from './unit-of-work';

interface Row extends ObjectLiteral {
  id: number;
  version: number;
}

/**
 * Writes columns of one row and returns it, in one statement, which is also what compares the version with the one that
 * the caller expects. A row that is hidden, or not there, is not found; a write that changes nothing leaves `updated_at`
 * and `version` alone (see the trigger `touch_row`).
 * @throws {EntityNotFoundError}
 * @throws {StaleVersionError}
 */
export async function updateRow<E extends Row>(
  manager: EntityManager,
  entity: EntityTarget<E>,
  id: number,
  columns: Partial<E>,
): Promise<E> {
  const repository = manager.getRepository(entity);
  const { tableName, columns: known, deleteDateColumn } = repository.metadata;
  const given = known.filter(({ propertyName }) => columns[propertyName] !== undefined);
  if (given.length === 0) return readExpected(repository, id);
  const expectation = UnitOfWork.current()?.takeExpectation();
  const values: unknown[] = [id, ...given.map(({ propertyName }) => columns[propertyName] as unknown)];
  const changes = given.map(({ databaseName }, index) => `"${databaseName}" = $${index + 2}`);
  const conditions = [
    'id = $1',
    ...(deleteDateColumn ? [`"${deleteDateColumn.databaseName}" IS NULL`] : []),
    ...(expectation?.conditions(values) ?? []),
  ];
  const text = `UPDATE "${tableName}" SET ${changes.join()} WHERE ${conditions.join(' AND ')} RETURNING *`;
  const [row] = await runStatement<E>(manager, text, values);
  if (row) return row;
  throw expectation ? await whyNot(repository, id) : new EntityNotFoundError(entity, { id });
}

async function readExpected<E extends Row>(repository: Repository<E>, id: number): Promise<E> {
  const row = await repository.findOneByOrFail({ id } as FindOptionsWhere<E>);
  requireExpected(row);
  return row;
}

/** What has kept a statement with an expectation from finding its row. */
export async function whyNot<E extends Row>(repository: Repository<E>, id: number): Promise<Error> {
  const where = { id } as FindOptionsWhere<E>;
  const row = await repository.findOneBy(where);
  return row ? new StaleVersionError(row.version) : new EntityNotFoundError(repository.target, where);
}
