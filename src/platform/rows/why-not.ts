import { EntityNotFoundError, type FindOptionsWhere, type ObjectLiteral, type Repository } from 'typeorm';
import { StaleVersionError } from '../transactions/expectation';

/** What has kept a statement with an expectation from finding its row. */
export async function whyNot<E extends ObjectLiteral & { id: number; version: number }>(
  repository: Repository<E>,
  id: number,
): Promise<Error> {
  const where = { id } as FindOptionsWhere<E>;
  const row = await repository.findOneBy(where);
  return row ? new StaleVersionError(row.version) : new EntityNotFoundError(repository.target, where);
}
