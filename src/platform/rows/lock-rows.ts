import { type EntityManager, type EntityTarget, PessimisticLockTransactionRequiredError } from 'typeorm';
import { anyNumberOf } from './any-number-of';
import { type PlainEntity, plainEntity } from './plain-entity';
import type { ResourceEntity } from './resource.entity';
import { isInTransaction, runStatement } from './statement';

interface LockRowsOptions {
  /** Whether hidden rows are locked as well. Default: false */
  withDeleted?: boolean;
}

/**
 * Locks rows until the transaction ends, and reads them as they are then. They are locked in the order of their ids: two
 * transactions with the same rows in another order would deadlock otherwise. Other rows may still refer to them meanwhile.
 * @param manager that of the transaction
 * @returns the rows by their ids, without the ones that aren't there
 * @throws {PessimisticLockTransactionRequiredError} outside of a transaction, where the locks would end at once
 */
export async function lockRows<E extends ResourceEntity>(
  manager: EntityManager,
  entity: EntityTarget<E>,
  ids: number[],
  { withDeleted = false }: LockRowsOptions = {},
): Promise<Map<number, E>> {
  if (!isInTransaction(manager)) throw new PessimisticLockTransactionRequiredError();
  if (ids.length === 0) return new Map();
  const plain = plainEntity(manager.dataSource, entity);
  const rows = await (plain
    ? lockPlain(manager, plain, ids, withDeleted)
    : lockEntities(manager, entity, ids, withDeleted));
  return new Map(rows.map((row) => [row.id, row]));
}

async function lockPlain<E extends ResourceEntity>(
  manager: EntityManager,
  plain: PlainEntity<E>,
  ids: number[],
  withDeleted: boolean,
): Promise<E[]> {
  const { table, selection, present } = plain;
  const where = [`id = ANY(${anyNumberOf('bigint', '$1')})`, ...(present && !withDeleted ? [present] : [])];
  const text = `SELECT ${selection} FROM ${table} WHERE ${where.join(' AND ')} ORDER BY id FOR NO KEY UPDATE`;
  return (await runStatement(manager, text, [ids])).map((row) => plain.toEntity(row));
}

function lockEntities<E extends ResourceEntity>(
  manager: EntityManager,
  entity: EntityTarget<E>,
  ids: number[],
  withDeleted: boolean,
): Promise<E[]> {
  const lock = (inside: EntityManager) => {
    const builder = inside.createQueryBuilder(entity, 'locked').whereInIds(ids).orderBy('locked.id');
    if (withDeleted) builder.withDeleted();
    return builder.setLock('for_no_key_update').getMany();
  };
  // TypeORM doesn't know of a transaction that is that of the request.
  return manager.queryRunner?.isTransactionActive ? lock(manager) : manager.transaction(lock);
}
