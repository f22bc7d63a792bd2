import type { EntityManager, EntityTarget, ObjectLiteral } from 'typeorm';
import { insertEntity } from './entity-rows';
import { insertParts } from './insert-parts';
import { insertRow } from './insert-row';
import { type GivenColumn, type PlainEntity, plainTable } from './plain-entity';
import { isInTransaction, MAX_PARAMETERS, runWrite } from './statement';

type WithId = ObjectLiteral & { id: number };

/**
 * Inserts rows and returns them as they are stored, in the same order: all of them, or none. Undefined columns get their defaults.
 * The rows need no id of their own, as the lines of an order, which have a position. It is one statement if TypeORM would do
 * nothing more than insert, otherwise `repository.save()` for each row, or `repository.insert()` for those without an id. What
 * TypeORM inserts is read again.
 */
export async function insertRows<E extends ObjectLiteral>(
  manager: EntityManager,
  entity: EntityTarget<E>,
  rows: Partial<E>[],
): Promise<E[]> {
  const hasId = manager.dataSource.getMetadata(entity).findColumnWithPropertyName('id') !== undefined;
  const plain = plainTable(manager.dataSource, entity);
  if (rows.length === 1 && hasId && plain?.hasId !== false) {
    return [(await insertRow(manager, entity as EntityTarget<WithId>, rows[0] as Partial<WithId>)) as unknown as E];
  }
  const given = plain && rows.map((columns) => plain.given(columns, 'isInsert'));
  const isPlain = given?.every((columns) => columns !== undefined && columns.length > 0);
  if (!plain || !isPlain) {
    return manager.transaction((inside) =>
      hasId ? insertEntities(inside, entity, rows) : insertParts(inside, entity, rows),
    );
  }
  const insert = (inside: EntityManager) => insertPlain(inside, plain, given as GivenColumn[][]);
  // Parts of another row stand or fall with it. Whoever inserts rows on their own may catch what refuses them, and go on.
  return !hasId && isInTransaction(manager) ? insert(manager) : manager.transaction(insert);
}

async function insertPlain<E extends ObjectLiteral>(
  manager: EntityManager,
  plain: PlainEntity<E>,
  rows: GivenColumn[][],
): Promise<E[]> {
  const names = [...new Set(rows.flatMap((columns) => columns.map(({ name }) => name)))];
  const together = Math.floor(MAX_PARAMETERS / Math.max(names.length, 1));
  const inserted: E[] = [];
  for (let at = 0; at < rows.length; at += together) {
    const [text, values] = valuesOf(rows.slice(at, at + together), names);
    const made = await runWrite<E>(manager, `INSERT INTO ${plain.table} ${text}`, values, plain.selection);
    for (const row of made) inserted.push(plain.toEntity(row));
  }
  return inserted;
}

/** The rows of a statement. PostgreSQL inserts and returns them in their order. */
function valuesOf(rows: GivenColumn[][], names: string[]): [text: string, values: unknown[]] {
  const values: unknown[] = [];
  const places = rows.map((columns) => {
    const known = new Map(columns.map(({ name, value }) => [name, value]));
    return `(${names.map((name) => (known.has(name) ? `$${values.push(known.get(name))}` : 'DEFAULT')).join()})`;
  });
  return [`(${names.join()}) VALUES ${places.join()}`, values];
}

async function insertEntities<E extends ObjectLiteral>(
  manager: EntityManager,
  entity: EntityTarget<E>,
  rows: Partial<E>[],
): Promise<E[]> {
  const inserted: ObjectLiteral[] = [];
  for (const columns of rows) {
    inserted.push(await insertEntity(manager, entity as EntityTarget<WithId>, columns as Partial<WithId>));
  }
  return inserted as E[];
}
