import { getMetadataArgsStorage } from 'typeorm';
import type { IndexMetadataArgs } from 'typeorm/metadata-args/IndexMetadataArgs';

export type SortableEntity = abstract new () => object;
/** An entity whose objects have these properties. */
type EntityWith<Name extends string> = abstract new () => Record<Name, unknown>;
export type Target = IndexMetadataArgs['target'];

/** Where an entity keeps the names. */
const SORTABLE_BY = 'resource-api:sortable-by';
const SIMPLE_NAME = /^[a-z_][a-z0-9_]*$/;

/**
 * The columns that a list of these rows can be sorted by, beside `id`. Each has an index with the `id`, which breaks ties, so
 * that a page costs the same at any depth: `<table>_<column>_sort`, of the rows that aren't deleted. Where rows are only hidden
 * when they are deleted, two more have the deleted ones, which administrators may list: `<table>_deleted` by the `id`, and
 * `<table>_deleted_since` by `updated_at`.
 */
export function SortableBy<Name extends string>(...names: Name[]): (entity: EntityWith<Name>) => void {
  return (entity) => {
    Reflect.defineMetadata(SORTABLE_BY, ['id', ...names], entity);
    const sorts = names.map((name) => new ListIndex(entity, `${name}_sort`, [name, 'id']));
    getMetadataArgsStorage().indices.push(...sorts, ...deletedIndexes(entity));
  };
}

/**
 * The names that `@SortableBy()` says of an entity, after `id`.
 * @throws {Error} for an entity without `@SortableBy()`
 */
export function sortableOf(entity: SortableEntity): readonly string[] {
  const names = Reflect.getMetadata(SORTABLE_BY, entity) as string[] | undefined;
  if (!names) throw new Error(`${entity.name} says nothing of what it can be sorted by: give it @SortableBy()`);
  return names;
}

/** What `@Index(name, columns, { where })` tells TypeORM. Asked for late: decorators above this one say the table. */
class ListIndex implements IndexMetadataArgs {
  readonly synchronize = true;

  /** @param end of its name, after that of the table @param deletion what the column of the deletion is */
  constructor(
    readonly target: Target,
    private readonly end: string,
    readonly columns: string[],
    private readonly deletion: 'IS NULL' | 'IS NOT NULL' = 'IS NULL',
  ) {}

  /** Left to TypeORM where the table's name is. */
  get name(): string | undefined {
    const table = tableOf(this.target);
    return table && `${table}_${this.end}`;
  }

  get where(): string | undefined {
    const column = deletionOf(this.target);
    return column && `${quoted(column)} ${this.deletion}`;
  }
}

/** What finds the deleted rows of an entity. None if rows are gone when they are deleted. */
function deletedIndexes(entity: SortableEntity): ListIndex[] {
  if (deletionOf(entity) === undefined) return [];
  const since = new ListIndex(entity, 'deleted_since', ['updated_at', 'id'], 'IS NOT NULL');
  return [new ListIndex(entity, 'deleted', ['id'], 'IS NOT NULL'), ...(hasColumn(entity, 'updated_at') ? [since] : [])];
}

/** The column that says when a row of an entity was deleted. Undefined if rows are gone then. */
export function deletionOf(entity: Target): string | undefined {
  const deletion = columnsOf(entity).find(({ mode }) => mode === 'deleteDate');
  return deletion && (deletion.options.name ?? deletion.propertyName);
}

/** Whether rows of the entity have a column for this property. */
export const hasColumn = (entity: Target, property: string): boolean =>
  columnsOf(entity).some(({ propertyName }) => propertyName === property);

const columnsOf = (entity: Target) => getMetadataArgsStorage().filterColumns(lineageOf(entity));

/** The name that the entity's decorator says, if it says one. */
export const tableOf = (entity: Target): string | undefined =>
  getMetadataArgsStorage().tables.find(({ target }) => target === entity)?.name;

/** The class and those that it extends. */
function lineageOf(target: Target): Target[] {
  const parent: unknown = typeof target === 'function' ? Object.getPrototypeOf(target) : undefined;
  return typeof parent === 'function' && parent !== Function.prototype ? [target, ...lineageOf(parent)] : [target];
}

/** As PostgreSQL writes it in the definition of an index. */
const quoted = (name: string): string => (SIMPLE_NAME.test(name) ? name : `"${name.replaceAll('"', '""')}"`);
