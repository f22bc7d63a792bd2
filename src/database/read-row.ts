import {
  type DataSource,
  type EntityManager,
  EntityNotFoundError,
  type EntityTarget,
  type ObjectLiteral,
} from 'typeorm';
import { BatchedRead } from './batched-reads';
import { UnitOfWork } from './unit-of-work';

interface Row extends ObjectLiteral {
  id: number;
}

/**
 * Reads one row, together with those that other requests ask for at the same moment. A row that is hidden, or not there,
 * is not found. Within a transaction it is what `findOneByOrFail` is: only its own connection sees what it has done.
 * @throws {EntityNotFoundError}
 */
export async function readRow<E extends Row>(manager: EntityManager, entity: EntityTarget<E>, id: number): Promise<E> {
  if (manager.queryRunner || UnitOfWork.current()?.transaction) {
    return manager.getRepository(entity).findOneByOrFail({ id } as never);
  }
  const row = await readerOf(manager.dataSource, entity).read(manager.dataSource, id);
  if (!row) throw new EntityNotFoundError(entity, { id });
  return row;
}

const readers = new Map<EntityTarget<ObjectLiteral>, BatchedRead<number, Row>>();

function readerOf<E extends Row>(database: DataSource, entity: EntityTarget<E>): BatchedRead<number, E> {
  let reader = readers.get(entity);
  if (!reader) readers.set(entity, (reader = makeReader(database, entity)));
  return reader as unknown as BatchedRead<number, E>;
}

/** Columns are named like the properties, and the driver parses their values. */
function makeReader(database: DataSource, entity: EntityTarget<Row>): BatchedRead<number, Row> {
  const { tableName, columns, deleteDateColumn } = database.getMetadata(entity);
  const names = columns.filter(({ isSelect }) => isSelect).map(({ databaseName }) => `"${databaseName}"`);
  const present = deleteDateColumn ? `AND "${deleteDateColumn.databaseName}" IS NULL` : '';
  const text = `SELECT ${names.join()} FROM "${tableName}" WHERE id = ANY($1::bigint[]) ${present}`;
  return new BatchedRead(`read-${tableName}`, text, ({ id }) => id);
}
