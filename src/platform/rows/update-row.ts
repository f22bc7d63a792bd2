import type { EntityManager, EntityTarget, FindOptionsWhere, Repository } from 'typeorm';
import type { Precondition } from '../transactions/precondition';
import { requireExpected } from '../transactions/require-expected';
import { writeTogether } from './batched-write';
import { updateEntity } from './entity-rows';
import { ExpectedRow, type VersionedRow } from './expected-row';
import { plainEntity } from './plain-entity';
import { rememberRefused } from './refused-writes';
import { runWrite } from './statement';

/**
 * Updates columns of one row and returns it, if its version is the expected one. A hidden row isn't found. A write that
 * changes nothing leaves `updated_at` and `version` unchanged (see the trigger `touch_row`). It is one statement, which
 * also compares the version, if TypeORM would do nothing more; otherwise `repository.save()` of the locked row.
 * @param expected the value of `@IfMatch()`. Default: that of the request, for the first row that it writes
 * @throws {EntityNotFoundError}
 * @throws {StaleVersionError}
 */
export function updateRow<E extends VersionedRow>(
  manager: EntityManager,
  entity: EntityTarget<E>,
  id: number,
  columns: Partial<E>,
  expected?: Precondition,
): Promise<E> {
  return rememberRefused({ manager, entity, values: columns, id }, () => {
    return update(manager, entity, id, columns, expected);
  });
}

async function update<E extends VersionedRow>(
  manager: EntityManager,
  entity: EntityTarget<E>,
  id: number,
  columns: Partial<E>,
  expected: Precondition | undefined,
): Promise<E> {
  const plain = plainEntity(manager.dataSource, entity);
  const given = plain?.given(columns, 'isUpdate');
  if (!plain || !given) return updateEntity(manager, entity, id, columns, expected);
  if (given.length === 0) return readExpected(manager.getRepository(entity), id, expected);
  const row = new ExpectedRow(manager, entity, id, expected);
  const alone = async () => {
    const values = given.map(({ value }) => value);
    const changes = given.map(({ name }, index) => `${name} = $${index + 1}`);
    const text = `UPDATE ${plain.table} SET ${changes.join()} WHERE ${row.condition(values)}`;
    const [changed] = await runWrite<E>(manager, text, values, plain.selection);
    return changed;
  };
  const { version } = row;
  const written =
    version === undefined
      ? await alone()
      : await writeTogether<E>(manager, plain, { given, target: { id, version } }, alone);
  if (!written) throw await row.reasonForMiss();
  return plain.toEntity(written);
}

async function readExpected<E extends VersionedRow>(
  repository: Repository<E>,
  id: number,
  expected: Precondition | undefined,
): Promise<E> {
  const row = await repository.findOneByOrFail({ id } as FindOptionsWhere<E>);
  requireExpected(row, expected);
  return row;
}
