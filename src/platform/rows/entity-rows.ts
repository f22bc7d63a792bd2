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

/** {@link insertRow} as TypeORM does it: with listeners, subscribers, transformers, relations and cascades. */
export function insertEntity<E extends Row>(
  manager: EntityManager,
  entity: EntityTarget<E>,
  columns: Partial<E>,
): Promise<E> {
  return manager.transaction(async (inside) => {
    const repository = inside.getRepository(entity);
    const row = fill(repository, repository.create(), columns);
    // save() would change a row that has the id already; insert() leaves relations out.
    if (row.id !== undefined) await repository.insert(row);
    await repository.save(row);
    return findAgain(repository, row.id, columns);
  });
}

/** {@link updateRow} as TypeORM does it. The lock makes of the comparison and the write one step. */
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
    // What a relation shows is part of the representation, and no column of the row.
    if (hasRelated(repository, columns) && saved.version === version) await touchRow(inside, entity, id);
    return findAgain(repository, id, columns);
  });
}

/** {@link deleteRow} as TypeORM does it. */
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

/** As the database has it now: what save() returns lacks what triggers did. A row that was just hidden is found as well. */
async function findAgain<E extends Row>(repository: Repository<E>, id: number, columns: Partial<E>): Promise<E> {
  const hidden = repository.metadata.deleteDateColumn?.getEntityValue(columns) as unknown;
  const row = await repository.findOne({
    where: { id } as FindOptionsWhere<E>,
    withDeleted: hidden !== undefined && hidden !== null,
  });
  // Written by this transaction, so it is there.
  if (!row) throw new EntityNotFoundError(repository.target, { id });
  return row;
}

/** Whether rows of other tables are among the values. */
function hasRelated<E extends Row>({ metadata }: Repository<E>, values: Partial<E>): boolean {
  const others = metadata.relations.filter(({ isOwning, isManyToMany }) => !isOwning || isManyToMany);
  return others.some(({ propertyName }) => values[propertyName] !== undefined);
}

/** Columns as TypeORM sets them, so that part of an embedded object changes this part; everything else as it is. */
function fill<E extends Row>({ metadata }: Repository<E>, row: E, values: Partial<E>): E {
  const { nonVirtualColumns, embeddeds } = metadata;
  for (const column of nonVirtualColumns) {
    const value = column.getEntityValue(values) as unknown;
    if (value === undefined) continue;
    column.setEntityValue(row, value);
    // An object that was read along would win over the id of another.
    const relation = column.relationMetadata;
    if (relation && values[relation.propertyName] === undefined) forget(row, relation);
  }
  const isSet = new Set([...nonVirtualColumns, ...embeddeds].map(({ propertyName }) => propertyName));
  const others = Object.entries(values).filter(([name, value]) => value !== undefined && !isSet.has(name));
  return Object.assign(row, Object.fromEntries(others));
}

/** Not by setEntityValue(), which merges. */
function forget(row: ObjectLiteral, { propertyName, isLazy }: RelationMetadata): void {
  delete row[isLazy ? `__${propertyName}__` : propertyName];
}
