import type { EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata';

/** Types whose values TypeORM passes on as the driver reads them. What it does when writing is repeated here. */
const PLAIN_TYPES: unknown[] = [
  ...['smallint', 'int2', 'integer', 'int', 'int4', 'bigint', 'int8', 'numeric', 'decimal'],
  ...['real', 'float', 'float4', 'float8', 'double precision', 'boolean', 'bool'],
  ...['text', 'varchar', 'character varying', 'char', 'character', 'uuid', 'bytea', 'json', 'jsonb'],
  ...['date', 'timestamptz', 'timestamp with time zone', 'timestamp', 'timestamp without time zone'],
];
/** The property types from which `@Column()` infers a type. Lists need an explicit type. */
const PLAIN_CLASSES: unknown[] = [String, Boolean, Date];
const ID_TYPES: unknown[] = ['bigint', 'int8', 'integer', 'int', 'int4'];

/** Features of TypeORM that go beyond reading and writing columns. An entity may use several. */
const MORE_THAN_COLUMNS: [reason: string, applies: (metadata: EntityMetadata) => boolean][] = [
  ['it is no table of its own', ({ tableType }) => tableType !== 'regular'],
  ['it is one of several entities in a table', ({ inheritancePattern }) => inheritancePattern !== undefined],
  ['it is a tree', ({ treeType }) => treeType !== undefined],
  ['it has listeners', ({ listeners }) => listeners.length > 0],
  ['it has embedded columns', ({ embeddeds }) => embeddeds.length > 0],
  ['it has eager relations', ({ eagerRelations }) => eagerRelations.length > 0],
  ['it has lazy relations', ({ lazyRelations }) => lazyRelations.length > 0],
  ['it has relation ids', ({ relationIds }) => relationIds.length > 0],
  ['TypeORM keeps its version', ({ versionColumn }) => versionColumn !== undefined],
  ['TypeORM keeps its date of update', ({ updateDateColumn }) => updateDateColumn !== undefined],
];
/** The only reason that new rows don't mind. */
export const NO_PLAIN_ID = 'its id is no number of its own';

/**
 * The reasons why rows of an entity must be read and written by TypeORM; empty if the service's own statements are
 * equivalent. Subscribers are not considered.
 */
export function reasonsAgainstPlain(metadata: EntityMetadata): string[] {
  const reasons = MORE_THAN_COLUMNS.filter(([, applies]) => applies(metadata)).map(([reason]) => reason);
  if (!hasPlainId(metadata)) reasons.push(NO_PLAIN_ID);
  const columns = metadata.columns.filter((column) => !isPlain(column));
  return [...reasons, ...columns.map(({ propertyPath, type }) => `${propertyPath} is converted (${String(type)})`)];
}

/** Whether TypeORM reads nothing of an entity but its columns, whatever their types and its id. */
export function readsColumnsAlone(metadata: EntityMetadata): boolean {
  return !MORE_THAN_COLUMNS.some(([, applies]) => applies(metadata));
}

/** Whether the rows have a number of their own as `id`. */
export function hasPlainId({ primaryColumns }: EntityMetadata): boolean {
  const [id] = primaryColumns;
  if (primaryColumns.length !== 1 || id.propertyName !== 'id' || id.databaseName !== 'id') return false;
  return ID_TYPES.includes(id.type);
}

function isPlain(column: ColumnMetadata): boolean {
  if (column.transformer || column.isVirtualProperty) return false;
  if (column.propertyName === 'version' && column.databaseName !== 'version') return false;
  if (column.isVirtual) return true;
  return PLAIN_TYPES.includes(column.type) || (PLAIN_CLASSES.includes(column.type) && !column.isArray);
}
