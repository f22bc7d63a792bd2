import {
  type DataSource,
  type EntityManager,
  EntityNotFoundError,
  type EntityTarget,
  type ObjectLiteral,
} from 'typeorm';
import { nameOf } from '../transactions/statement-names';
import { BatchedRead, keysOf } from './batched-read';
import { type PlainEntity, plainEntity } from './plain-entity';
import { takePrefetched } from './prefetched';
import { isBound } from './statement';

interface Row extends ObjectLiteral {
  id: number;
}

/**
 * Reads one row like `findOneByOrFail`: a hidden row isn't found. Outside of a transaction, and if TypeORM would only
 * read columns, concurrent requests share the statement.
 * @throws {EntityNotFoundError}
 */
export async function readRow<E extends Row>(manager: EntityManager, entity: EntityTarget<E>, id: number): Promise<E> {
  // Uncommitted changes are only visible on the transaction's own connection.
  const plain = isBound(manager) ? undefined : plainEntity(manager.dataSource, entity);
  if (!plain) return manager.getRepository(entity).findOneByOrFail({ id } as never);
  const prefetched = takePrefetched(manager, entity, id);
  if (prefetched) return prefetched;
  const row = await readerOf(plain).read(manager.dataSource, id);
  if (!row) throw new EntityNotFoundError(entity, { id });
  return plain.toEntity(row);
}

/** Reads rows by their ids, as {@link readRow} reads one of a plain entity outside of a transaction. Others are left out. */
export async function readPlainRowsById<E extends Row>(
  database: DataSource,
  plain: PlainEntity<E>,
  ids: number[],
): Promise<E[]> {
  const reader = readerOf(plain);
  const rows = await Promise.all(ids.map((id) => reader.read(database, id)));
  return rows.filter((row) => row !== undefined).map((row) => plain.toEntity(row));
}

type Reader = BatchedRead<number, Row>;

const readers = new WeakMap<object, Reader>();

function readerOf<E extends Row>(plain: PlainEntity<E>): Reader {
  let reader = readers.get(plain);
  if (!reader) readers.set(plain, (reader = makeReader(plain)));
  return reader;
}

function makeReader<E extends Row>({ table, selection, present }: PlainEntity<E>): Reader {
  const where = [`id = ANY(${keysOf('bigint')})`, ...(present ? [present] : [])].join(' AND ');
  const text = `SELECT ${selection} FROM ${table} WHERE ${where}`;
  return new BatchedRead(nameOf(text), text, ({ id }) => id, { byReplica: true });
}
