import type { DataSource, EntityMetadata, EntityTarget, ObjectLiteral } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata';
import { hasOwnPool } from '../transactions/cancellable-pool';
import { momentText } from '../text/moment-text';
import { MOMENTS } from './exact-columns';
import { isKeptApart } from './kept-apart';
import { hasPlainId, NO_PLAIN_ID, reasonsAgainstPlain } from './plain-reasons';
import { isWatched } from '../transactions/subscribers';

/** A column, and its value in a statement. */
export interface GivenColumn {
  name: string;
  value: unknown;
}

/** An entity for which TypeORM would only read and write columns. The service uses its own statements for its rows. */
export class PlainEntity<E extends ObjectLiteral> {
  /** The quoted table with its schema. */
  readonly table: string;
  /** Whether the rows have an id of their own, by which they are read and changed. */
  readonly hasId: boolean;
  /** The condition that excludes hidden rows; undefined if rows can't be hidden. */
  readonly present?: string;
  /** The condition that selects hidden rows; undefined if rows can't be hidden. */
  readonly deleted?: string;
  /** All columns that `find` reads, for statements that return rows. */
  readonly selection: string;
  private readonly columns: Map<string, ColumnMetadata>;
  private readonly prototype?: object;
  /** Whether the class gives new rows values of its own, as `id = randomUUID()`. */
  private readonly setsValues: boolean;

  constructor(
    private readonly database: DataSource,
    readonly metadata: EntityMetadata,
  ) {
    const { columns, deleteDateColumn } = metadata;
    this.table = tableOf(metadata);
    this.hasId = hasPlainId(metadata);
    this.columns = new Map(
      columns.filter(({ isVirtual }) => !isVirtual).map((column) => [column.propertyName, column]),
    );
    this.present = deleteDateColumn && `${quoted(deleteDateColumn.databaseName)} IS NULL`;
    this.deleted = deleteDateColumn && `${quoted(deleteDateColumn.databaseName)} IS NOT NULL`;
    this.selection = this.select();
    this.prototype = this.simplePrototype();
    this.setsValues = Object.values(metadata.create() as object).some((value) => value !== undefined);
  }

  /** @param wanted the properties to select; others than columns are ignored. Default: all */
  select(wanted?: string[]): string {
    return [...this.columns.values()]
      .filter(({ propertyName, isSelect }) => isSelect && (!wanted || wanted.includes(propertyName)))
      .map(({ propertyName, databaseName }) =>
        propertyName === databaseName ? quoted(databaseName) : `${quoted(databaseName)} AS ${quoted(propertyName)}`,
      )
      .join();
  }

  /** The quoted column of a property. */
  column(property: string): string {
    const column = this.columns.get(property);
    if (!column) throw new Error(`${this.metadata.name} has no column for ${property}`);
    return quoted(column.databaseName);
  }

  has(property: string): boolean {
    return this.columns.has(property);
  }

  /** The columns that a statement writes, like TypeORM. Undefined if the values contain more than columns. */
  given(values: Partial<E>, operation: 'isInsert' | 'isUpdate'): GivenColumn[] | undefined {
    const initial = operation === 'isInsert' && this.setsValues ? (this.metadata.create() as Partial<E>) : undefined;
    if (this.hasMore(values) || (initial && this.hasMore(initial))) return undefined;
    const given: GivenColumn[] = [];
    // Iterates over columns, because a class may have accessors for them.
    for (const [property, column] of this.columns) {
      const value: unknown = values[property] === undefined ? initial?.[property] : values[property];
      if (typeof value === 'function') return undefined;
      if (value === undefined || !column[operation]) continue;
      const prepared = this.database.driver.preparePersistentValue(value, column) as unknown;
      const isMoment = prepared instanceof Date && MOMENTS.includes(column.type);
      given.push({ name: quoted(column.databaseName), value: isMoment ? momentText(prepared) : prepared });
    }
    return given;
  }

  private hasMore(values: Partial<E>): boolean {
    const others = Object.keys(values).filter((name) => !this.columns.has(name));
    return others.some((name) => values[name] !== undefined);
  }

  /** Turns a row into an instance of the class, like `find`. The row must not be used afterwards. */
  toEntity(row: object): E {
    // Fast path: changing the prototype takes a third of the time of copying.
    if (this.prototype) return Object.setPrototypeOf(row, this.prototype) as E;
    return Object.assign(this.emptyEntity(), row);
  }

  private emptyEntity(): E {
    return this.metadata.create(undefined, { fromDeserializer: true }) as E;
  }

  /** The prototype of a class whose constructor sets nothing, and that has no accessors for columns. */
  private simplePrototype(): object | undefined {
    const entity = this.emptyEntity();
    const isEmpty = Reflect.ownKeys(entity).length === 0;
    return isEmpty && ![...this.columns.keys()].some((name) => name in entity)
      ? (Object.getPrototypeOf(entity) as object)
      : undefined;
  }
}

/** The quoted table with its schema. */
export const tableOf = ({ tablePath }: EntityMetadata): string => tablePath.split('.').map(quoted).join('.');

/** A quoted SQL name. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

const plainEntities = new WeakMap<EntityMetadata, PlainEntity<ObjectLiteral> | null>();

/** Undefined if rows of the entity must be read and written by TypeORM. */
export function plainEntity<E extends ObjectLiteral>(
  database: DataSource,
  entity: EntityTarget<E>,
): PlainEntity<E> | undefined {
  const plain = plainTable(database, entity);
  return plain?.hasId ? plain : undefined;
}

/**
 * The same for new rows, which need no id of their own. Decided once, except for subscribers, which may be added and
 * removed.
 */
export function plainTable<E extends ObjectLiteral>(
  database: DataSource,
  entity: EntityTarget<E>,
): PlainEntity<E> | undefined {
  const metadata = database.getMetadata(entity);
  let plain = plainEntities.get(metadata);
  if (plain === undefined) {
    const { options } = database;
    const isLogged = Boolean(options.logging) || options.maxQueryExecutionTime !== undefined;
    const reasons = reasonsAgainstPlain(metadata).filter((reason) => reason !== NO_PLAIN_ID);
    const isOrdinary = isLogged || !hasOwnPool(database) || reasons.length > 0;
    plain = isOrdinary ? null : new PlainEntity(database, metadata);
    plainEntities.set(metadata, plain);
  }
  if (!plain || isKeptApart(database, metadata) || isWatched(database, metadata)) return undefined;
  return plain as unknown as PlainEntity<E>;
}
