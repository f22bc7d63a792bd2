import type { DataSource, EntityMetadata, EntityTarget, ObjectLiteral } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata';
import { hasOwnPool } from '../transactions/cancellable-pool';
import { isKeptApart } from './kept-apart';
import { isWatched } from '../transactions/subscribers';

/** Types whose values TypeORM passes on as the driver gives them; what it does on the way in is done here as well. */
const PLAIN_TYPES: unknown[] = [
  ...['smallint', 'int2', 'integer', 'int', 'int4', 'bigint', 'int8', 'numeric', 'decimal'],
  ...['real', 'float', 'float4', 'float8', 'double precision', 'boolean', 'bool'],
  ...['text', 'varchar', 'character varying', 'char', 'character', 'uuid', 'bytea', 'json', 'jsonb'],
  ...['date', 'timestamptz', 'timestamp with time zone', 'timestamp', 'timestamp without time zone'],
];
/** What `@Column()` takes from the property, of which there are no lists. */
const PLAIN_CLASSES: unknown[] = [String, Boolean, Date];
const ID_TYPES: unknown[] = ['bigint', 'int8', 'integer', 'int', 'int4'];

/** What TypeORM does for some entities beside writing and reading columns. One entity may have several of these. */
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
  ['its id is no number of its own', (metadata) => !hasPlainId(metadata)],
];

/** Why the rows of an entity take the way through TypeORM, whoever watches; nothing where statements of our own do the same. */
export function whyNotPlain(metadata: EntityMetadata): string[] {
  const reasons = MORE_THAN_COLUMNS.filter(([, applies]) => applies(metadata)).map(([reason]) => reason);
  const columns = metadata.columns.filter((column) => !isPlain(column));
  return [...reasons, ...columns.map(({ propertyPath, type }) => `${propertyPath} is converted (${String(type)})`)];
}

function hasPlainId({ primaryColumns }: EntityMetadata): boolean {
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

/** A column, and the value that a statement gets for it. */
interface GivenColumn {
  name: string;
  value: unknown;
}

/** An entity whose rows TypeORM would do nothing with but write and read their columns: for statements of our own. */
export class PlainEntity<E extends ObjectLiteral> {
  /** As SQL has it, with its schema. */
  readonly table: string;
  /** The condition for rows that aren't deleted; undefined where they can't be hidden. */
  readonly present?: string;
  /** Of statements that return rows: all columns that a `find` reads. */
  readonly selection: string;
  private readonly columns: Map<string, ColumnMetadata>;
  private readonly prototype?: object;

  constructor(
    private readonly database: DataSource,
    readonly metadata: EntityMetadata,
  ) {
    const { columns, deleteDateColumn } = metadata;
    this.table = tableOf(metadata);
    this.columns = new Map(
      columns.filter(({ isVirtual }) => !isVirtual).map((column) => [column.propertyName, column]),
    );
    this.present = deleteDateColumn && `${quoted(deleteDateColumn.databaseName)} IS NULL`;
    this.selection = this.select();
    this.prototype = this.simplePrototype();
  }

  /** @param wanted some properties only; others than columns are left out */
  select(wanted?: string[]): string {
    return [...this.columns.values()]
      .filter(({ propertyName, isSelect }) => isSelect && (!wanted || wanted.includes(propertyName)))
      .map(({ propertyName, databaseName }) =>
        propertyName === databaseName ? quoted(databaseName) : `${quoted(databaseName)} AS ${quoted(propertyName)}`,
      )
      .join();
  }

  /** A property's column as SQL has it. */
  column(property: string): string {
    const column = this.columns.get(property);
    if (!column) throw new Error(`${this.metadata.name} has no column for ${property}`);
    return quoted(column.databaseName);
  }

  has(property: string): boolean {
    return this.columns.has(property);
  }

  /** What a statement writes, as TypeORM would; undefined when there is more among it than values of columns. */
  given(values: Partial<E>, operation: 'isInsert' | 'isUpdate'): GivenColumn[] | undefined {
    const others = Object.keys(values).filter((name) => !this.columns.has(name));
    if (others.some((name) => values[name] !== undefined)) return undefined;
    const given: GivenColumn[] = [];
    // The columns, not the keys: a class may have accessors for columns.
    for (const [property, column] of this.columns) {
      const value = values[property] as unknown;
      if (typeof value === 'function') return undefined;
      if (value === undefined || !column[operation]) continue;
      const prepared = this.database.driver.preparePersistentValue(value, column) as unknown;
      given.push({ name: quoted(column.databaseName), value: prepared });
    }
    return given;
  }

  /** An instance of the class, as a `find` returns it. Takes the row, which is one's own, over. */
  toEntity(row: object): E {
    // A third of the time of copying it, where the class has nothing to add to it.
    if (this.prototype) return Object.setPrototypeOf(row, this.prototype) as E;
    return Object.assign(this.emptyEntity(), row);
  }

  private emptyEntity(): E {
    return this.metadata.create(undefined, { fromDeserializer: true }) as E;
  }

  /** Of a class whose constructor sets nothing, and that has no accessor for a column. */
  private simplePrototype(): object | undefined {
    const entity = this.emptyEntity();
    const isEmpty = Reflect.ownKeys(entity).length === 0;
    return isEmpty && ![...this.columns.keys()].some((name) => name in entity)
      ? (Object.getPrototypeOf(entity) as object)
      : undefined;
  }
}

/** Types of which JavaScript's value, written as text, is the very value that the database sorts by. */
const EXACT_TYPES: unknown[] = [
  ...['smallint', 'int2', 'integer', 'int', 'int4', 'bigint', 'int8', 'numeric', 'decimal'],
  ...['text', 'varchar', 'character varying', 'uuid', 'date', String],
];
const MOMENTS: unknown[] = ['timestamptz', 'timestamp with time zone'];
const MILLISECONDS = 3;

/** Whether a column's value in an entity tells its place in the column's order: not a moment cut to milliseconds, say. */
export function isExact({ type, precision, transformer, isArray }: ColumnMetadata): boolean {
  if (transformer || isArray) return false;
  if (MOMENTS.includes(type)) return typeof precision === 'number' && precision <= MILLISECONDS;
  return EXACT_TYPES.includes(type);
}

/** As SQL has it, with its schema. */
export const tableOf = ({ tablePath }: EntityMetadata): string => tablePath.split('.').map(quoted).join('.');

/** A name as SQL has it. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

const plainEntities = new WeakMap<EntityMetadata, PlainEntity<ObjectLiteral> | null>();

/** Undefined when its rows have to take the way through TypeORM. Decided once, but for subscribers, which come and go. */
export function plainEntity<E extends ObjectLiteral>(
  database: DataSource,
  entity: EntityTarget<E>,
): PlainEntity<E> | undefined {
  const metadata = database.getMetadata(entity);
  let plain = plainEntities.get(metadata);
  if (plain === undefined) {
    const { options } = database;
    const isLogged = Boolean(options.logging) || options.maxQueryExecutionTime !== undefined;
    const isOrdinary = isLogged || !hasOwnPool(database) || whyNotPlain(metadata).length > 0;
    plain = isOrdinary ? null : new PlainEntity(database, metadata);
    plainEntities.set(metadata, plain);
  }
  if (!plain || isKeptApart(database, metadata) || isWatched(database, metadata)) return undefined;
  return plain as unknown as PlainEntity<E>;
}
