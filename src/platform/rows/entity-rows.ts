import {
  type EntityManager,
  EntityNotFoundError,
  type EntityTarget,
  type FindOptionsWhere,
  type ObjectLiteral,
  type Repository,
} from 'typeorm';
import type { RelationMetadata } from 'typeorm/metadata/RelationMetadata';
import { lockExpected } from '../transactions/lock-expected';
import type { Precondition } from '../transactions/precondition';
import { touchRow } from './touch-row';

interface Row extends ObjectLiteral {
  id: number;
}

/** {@link insertRow} by TypeORM: with listeners, subscribers, transformers, relations and cascades. */
export function insertEntity<E extends Row>(
  manager: EntityManager,
  entity: EntityTarget<E>,
  columns: Partial<E>,
): Promise<E> {
  return manager.transaction(async (inside) => {
    const repository = inside.getRepository(entity);
    const row = fill(repository, repository.create(), columns);
    // With an id, save() would update an existing row. insert() writes no relations, so save() follows.
    if (row.id !== undefined) await repository.insert(row);
    await repository.save(row);
    // The id may be that of several rows, which another column of the key tells apart.
    return findAgain(repository, repository.metadata.getEntityIdMap(row) as FindOptionsWhere<E>, columns);
  });
}

/** {@link updateRow} by TypeORM. The lock makes comparison and write atomic. */
export function updateEntity<E extends Row & { version: number }>(
  manager: EntityManager,
  entity: EntityTarget<E>,
  id: number,
  columns: Partial<E>,
  expected?: Precondition,
): Promise<E> {
  return manager.transaction(async (inside) => {
    const repository = inside.getRepository(entity);
    await lock(repository, id, expected);
    const row = await findOne(repository, id);
    const { version } = row;
    const saved = await repository.save(fill(repository, row, columns));
    // Relations are part of the representation, but not of the row, so their changes must raise the version.
    if (hasRelated(repository, columns) && saved.version === version) await touchRow(inside, entity, id);
    return findAgain(repository, { id } as FindOptionsWhere<E>, columns);
  });
}

/** {@link deleteRow} by TypeORM. */
export function removeEntity<E extends Row>(
  manager: EntityManager,
  entity: EntityTarget<E>,
  id: number,
  expected?: Precondition,
): Promise<void> {
  return manager.transaction(async (inside) => {
    const repository = inside.getRepository(entity);
    await lock(repository, id, expected);
    await repository.remove(await findOne(repository, id));
  });
}

async function lock<E extends Row>(
  { manager, metadata, target }: Repository<E>,
  id: number,
  expected: Precondition | undefined,
): Promise<void> {
  if (!(await lockExpected(manager, metadata, id, { expected }))) throw new EntityNotFoundError(target, { id });
}

function findOne<E extends Row>(repository: Repository<E>, id: number): Promise<E> {
  return repository.findOneByOrFail({ id } as FindOptionsWhere<E>);
}

/**
 * Reads the row again, because the result of save() lacks changes by triggers. Also finds a row that was just hidden.
 */
async function findAgain<E extends Row>(
  repository: Repository<E>,
  where: FindOptionsWhere<E>,
  columns: Partial<E>,
): Promise<E> {
  const hidden = repository.metadata.deleteDateColumn?.getEntityValue(columns) as unknown;
  const row = await repository.findOne({
    where,
    withDeleted: hidden !== undefined && hidden !== null,
  });
  // This transaction has just written the row.
  if (!row) throw new EntityNotFoundError(repository.target, where);
  return row;
}

/** True if the values contain rows of other tables. */
function hasRelated<E extends Row>({ metadata }: Repository<E>, values: Partial<E>): boolean {
  const others = metadata.relations.filter(({ isOwning, isManyToMany }) => !isOwning || isManyToMany);
  return others.some(({ propertyName }) => values[propertyName] !== undefined);
}

/** Sets columns like TypeORM, so that a part of an embedded object only changes this part. Relations are replaced. */
function fill<E extends Row>({ metadata }: Repository<E>, row: E, values: Partial<E>): E {
  const { nonVirtualColumns, embeddeds } = metadata;
  for (const column of nonVirtualColumns) {
    const value = column.getEntityValue(values) as unknown;
    if (value === undefined) continue;
    column.setEntityValue(row, value);
    // A loaded related object would take precedence over a changed foreign key.
    const relation = column.relationMetadata;
    if (relation && values[relation.propertyName] === undefined) forget(row, relation);
  }
  const isSet = new Set([...nonVirtualColumns, ...embeddeds].map(({ propertyName }) => propertyName));
  const others = Object.entries(values).filter(([name, value]) => value !== undefined && !isSet.has(name));
  return Object.assign(row, Object.fromEntries(others));
}

/** setEntityValue() would merge. */
function forget(row: ObjectLiteral, { propertyName, isLazy }: RelationMetadata): void {
  delete row[isLazy ? `__${propertyName}__` : propertyName];
}
