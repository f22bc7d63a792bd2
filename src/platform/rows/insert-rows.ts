import type { EntityManager, EntityTarget, ObjectLiteral } from 'typeorm';
import { anyNumberOf } from './any-number-of';
import { listOf } from './batched-statement';
import { insertEntity } from './entity-rows';
import { insertRow } from './insert-row';
import { type GivenColumn, type PlainEntity, plainTable } from './plain-entity';
import { isInTransaction, runWrite } from './statement';

/** The parameters that a statement of PostgreSQL may have. */
const MAX_PARAMETERS = 65_535;

/** A statement without RETURNING, and its parameters. */
type Statement = [text: string, values: unknown[]];
type WithId = ObjectLiteral & { id: number };

/**
 * Inserts rows and returns them in the same order: all of them, or none. Undefined columns get their defaults. The rows need no
 * id of their own, as the lines of an order, which have a position. It is one statement if TypeORM would do nothing more than
 * insert, otherwise `repository.save()` for each row.
 */
export async function insertRows<E extends ObjectLiteral>(
  manager: EntityManager,
  entity: EntityTarget<E>,
  rows: Partial<E>[],
): Promise<E[]> {
  const plain = plainTable(manager.dataSource, entity);
  if (rows.length === 1 && (!plain || plain.hasId)) return insertEntities(manager, entity, rows);
  const given = plain && rows.map((columns) => plain.given(columns, 'isInsert'));
  const isPlain = given?.every((columns) => columns !== undefined);
  if (!plain || !isPlain) return manager.transaction((inside) => insertEntities(inside, entity, rows));
  const statements = statementsFor(plain, given);
  const run = (inside: EntityManager) => insertPlain(inside, plain, statements);
  // A single statement inserts all or none by itself. Outside of a transaction it would check its writer for each row.
  return statements.length === 1 && isInTransaction(manager) ? run(manager) : manager.transaction(run);
}

async function insertPlain<E extends ObjectLiteral>(
  manager: EntityManager,
  plain: PlainEntity<E>,
  statements: Statement[],
): Promise<E[]> {
  const inserted: E[] = [];
  for (const [text, values] of statements) {
    const made = await runWrite<E>(manager, `INSERT INTO ${plain.table} ${text}`, values, plain.selection);
    inserted.push(...made.map((row) => plain.toEntity(row)));
  }
  return inserted;
}

/** PostgreSQL inserts and returns the rows of a statement in their order. */
function statementsFor<E extends ObjectLiteral>(plain: PlainEntity<E>, rows: GivenColumn[][]): Statement[] {
  const names = [...new Set(rows.flatMap((columns) => columns.map(({ name }) => name)))];
  const lists = listsOf(plain, rows, names);
  if (lists) return [lists];
  const together = Math.floor(MAX_PARAMETERS / Math.max(names.length, 1));
  const statements: Statement[] = [];
  for (let at = 0; at < rows.length; at += together) statements.push(valuesOf(rows.slice(at, at + together), names));
  return statements;
}

/**
 * The rows as one list for each column: the text is the same for any number of rows, so PostgreSQL plans it once. Undefined if
 * rows leave columns to their defaults, or a list has not the values of a column.
 */
function listsOf<E extends ObjectLiteral>(
  plain: PlainEntity<E>,
  rows: GivenColumn[][],
  names: string[],
): Statement | undefined {
  const types = names.flatMap((name) => listOf(plain, name) ?? []);
  const isWhole = (columns: GivenColumn[]) =>
    columns.length === names.length && !columns.some(({ value }) => typeof value === 'object' && value !== null);
  if (names.length === 0 || types.length < names.length || !rows.every(isWhole)) return undefined;
  const places = types.map((type, index) => anyNumberOf(type, `$${index + 1}`));
  // All have the columns of the entity in the same order.
  const values = names.map((_, index) => rows.map((columns) => columns[index].value));
  const columns = names.map((_, index) => `given_${index}`).join();
  return [`(${names.join()}) SELECT ${columns} FROM unnest(${places.join()}) AS given(${columns})`, values];
}

/** The rows with a parameter for each value. */
function valuesOf(rows: GivenColumn[][], names: string[]): Statement {
  const values: unknown[] = [];
  const places = rows.map((columns) => {
    const known = new Map(columns.map(({ name, value }) => [name, value]));
    return `(${names.map((name) => (known.has(name) ? `$${values.push(known.get(name))}` : 'DEFAULT')).join()})`;
  });
  return [`(${names.join()}) VALUES ${places.join()}`, values];
}

/** @param rows those of an entity without an id of their own are only inserted: `save()` would look for each first */
async function insertEntities<E extends ObjectLiteral>(
  manager: EntityManager,
  entity: EntityTarget<E>,
  rows: Partial<E>[],
): Promise<E[]> {
  const repository = manager.getRepository(entity);
  if (!repository.metadata.findColumnWithPropertyName('id')) {
    const entities = repository.create(rows as never[]);
    await repository.insert(entities);
    return entities;
  }
  const inserted: ObjectLiteral[] = [];
  for (const columns of rows) {
    const insert = rows.length === 1 ? insertRow<WithId> : insertEntity<WithId>;
    inserted.push(await insert(manager, entity as EntityTarget<WithId>, columns));
  }
  return inserted as E[];
}
