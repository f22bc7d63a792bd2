import {
  type EntityManager,
  EntityNotFoundError,
  type EntityTarget,
  type FindOptionsWhere,
  type ObjectLiteral,
} from 'typeorm';
import { requireVersionOf } from '../transactions/expectation';
import { tableOf } from './plain-entity';
import { runStatement } from './statement';
import { UnitOfWork } from '../transactions/unit-of-work';
import { whyNot } from './why-not';

/**
 * Gives a row the next version, and `updated_at` the present, if it is in a version that the caller expects: for a change of
 * what its representation shows beside its columns, such as its tags or its lines. In the transaction of that change, and
 * before it, so that of two who make one at once the second sees what the first did.
 * @throws {EntityNotFoundError}
 * @throws {StaleVersionError}
 */
export async function touchRow<E extends ObjectLiteral & { id: number; version: number }>(
  manager: EntityManager,
  entity: EntityTarget<E>,
  id: number,
): Promise<E> {
  const repository = manager.getRepository(entity);
  const { metadata } = repository;
  requireVersionOf(metadata);
  const version = `"${metadata.findColumnWithPropertyName('version')!.databaseName}"`;
  const expectation = UnitOfWork.current()?.takeExpectation();
  const values: unknown[] = [id];
  const conditions = [
    `"${metadata.findColumnWithPropertyName('id')!.databaseName}" = $1`,
    ...(metadata.deleteDateColumn ? [`"${metadata.deleteDateColumn.databaseName}" IS NULL`] : []),
    ...(expectation?.conditions(values, version) ?? []),
  ];
  const where = conditions.join(' AND ');
  const text = `UPDATE ${tableOf(metadata)} SET ${version} = ${version} + 1 WHERE ${where} RETURNING 1`;
  const rows = await runStatement(manager, text, values);
  if (rows.length > 0) return repository.findOneByOrFail({ id } as FindOptionsWhere<E>);
  throw expectation ? await whyNot(repository, id) : new EntityNotFoundError(entity, { id });
}
