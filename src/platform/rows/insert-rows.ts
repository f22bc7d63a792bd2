import type { EntityManager, EntityTarget, ObjectLiteral } from 'typeorm';
import { insertEntity } from './entity-rows';
import { insertRow } from './insert-row';
import { type GivenColumn, type PlainEntity, plainEntity } from './plain-entity';
import { runWrite } from './statement';

/** The parameters that a statement of PostgreSQL may have. */
const MAX_PARAMETERS = 65_535;

/**
 * Inserts rows and returns them in the same order: all of them, or none. Undefined columns get their defaults. It is one
 * statement if TypeORM would do nothing more than insert, otherwise `repository.save()` for each row.
 */
export async function insertRows<E extends ObjectLiteral & { id: number }>(
  manager: EntityManager,
  entity: EntityTarget<E>,
  rows: Partial<E>[],
): Promise<E[]> {
  if (rows.length === 1) return [await insertRow(manager, entity, rows[0])];
  const plain = plainEntity(manager.dataSource, entity);
  const given = plain && rows.map((columns) => plain.given(columns, 'isInsert'));
  const isPlain = given?.every((columns) => columns !== undefined);
  // In a transaction a statement of so many values has no name: it hardly comes again.
  return manager.transaction((inside) =>
    plain && isPlain ? insertPlain(inside, plain, given) : insertEntities(inside, entity, rows),
  );
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
    inserted.push(...made.map((row) => plain.toEntity(row)));
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

async function insertEntities<E extends ObjectLiteral & { id: number }>(
  manager: EntityManager,
  entity: EntityTarget<E>,
  rows: Partial<E>[],
): Promise<E[]> {
  const inserted: E[] = [];
  for (const columns of rows) inserted.push(await insertEntity(manager, entity, columns));
  return inserted;
}
