import type { EntityManager, EntityMetadata, EntityTarget, ObjectLiteral } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata';
import type { BrokenConstraint } from './constraints';
import { quoted, tableOf } from './plain-entity';
import { violatedUniqueConstraint } from './unique-violation';

/** What a statement was to write. */
interface Write<E extends ObjectLiteral> {
  manager: EntityManager;
  entity: EntityTarget<E>;
  /** The values by property. */
  values: Partial<E>;
  /** The id of the row that was to change. Undefined for a new row. */
  id?: number;
}

interface UniqueConstraint {
  name: string;
  columns: ColumnMetadata[];
  /** The condition of an index that doesn't contain all rows. */
  where?: string;
}

/** By the errors of their statements. */
const refused = new WeakMap<object, Write<ObjectLiteral>>();

/** Runs `write`, and remembers what it was to write if a unique constraint refuses it, for {@link otherViolations}. */
export async function rememberRefused<E extends ObjectLiteral, T>(write: Write<E>, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (violatedUniqueConstraint(error) !== undefined) refused.set(error as object, write);
    throw error;
  }
}

export function isRefusedWrite(thrown: unknown): thrown is Error {
  return typeof thrown === 'object' && thrown !== null && refused.has(thrown);
}

/**
 * The other unique constraints that refuse a write, as PostgreSQL only tells the first (D-240). One statement reads them,
 * after the write's transaction has ended. It tells no more than a write with this value alone would.
 */
export async function otherViolations(error: Error): Promise<BrokenConstraint[]> {
  const write = refused.get(error)!;
  const { dataSource } = write.manager;
  const metadata = dataSource.getMetadata(write.entity);
  const told = violatedUniqueConstraint(error);
  const others = constraintsOf(metadata).filter((one) => one.name !== told && concerns(one, write, metadata));
  if (others.length === 0) return [];
  const parameters: unknown[] = [];
  const conditions = others.map((one, index) => `${isTaken(one, write, metadata, parameters)} AS "${index}"`);
  const from =
    write.id === undefined ? '' : ` FROM ${tableOf(metadata)} AS mine WHERE id = $${parameters.push(write.id)}`;
  const text = `SELECT ${conditions.join()}${from}`;
  const [found = {}] = await dataSource.query<Record<string, boolean>[]>(text, parameters);
  const { schema, tableName: table } = metadata;
  return others.filter((_, index) => found[index]).map(({ name }) => ({ constraint: name, schema, table }));
}

function constraintsOf({ indices, uniques }: EntityMetadata): UniqueConstraint[] {
  return [...indices.filter(({ isUnique }) => isUnique), ...uniques].filter(({ columns }) => columns.length > 0);
}

/** True if the write gives the constraint new values. No two nulls are equal. */
function concerns(
  { columns, where }: UniqueConstraint,
  { values, id }: Write<ObjectLiteral>,
  metadata: EntityMetadata,
) {
  const given = columns.map((column) => column.getEntityValue(values) as unknown);
  if (given.includes(null) || (where !== undefined && !isPresence(where, metadata))) return false;
  return id === undefined ? !given.includes(undefined) : given.some((value) => value !== undefined);
}

/** True if an index contains the rows that aren't hidden. What else an index leaves out, it may leave out of the write. */
function isPresence(where: string, { deleteDateColumn }: EntityMetadata): boolean {
  return deleteDateColumn !== undefined && where.replaceAll('"', '') === `${deleteDateColumn.databaseName} IS NULL`;
}

/** @param parameters those of the statement; the values are added */
function isTaken(
  { columns, where }: UniqueConstraint,
  { manager, values, id }: Write<ObjectLiteral>,
  metadata: EntityMetadata,
  parameters: unknown[],
): string {
  const { driver } = manager.dataSource;
  const conditions = columns.map((column) => {
    const value = column.getEntityValue(values) as unknown;
    const name = quoted(column.databaseName);
    if (value === undefined) return `other.${name} = mine.${name}`;
    return `other.${name} = $${parameters.push(driver.preparePersistentValue(value, column))}`;
  });
  if (where !== undefined) conditions.push(`other.${quoted(metadata.deleteDateColumn!.databaseName)} IS NULL`);
  if (id !== undefined) conditions.push('other.id <> mine.id');
  return `EXISTS (SELECT FROM ${tableOf(metadata)} AS other WHERE ${conditions.join(' AND ')})`;
}
