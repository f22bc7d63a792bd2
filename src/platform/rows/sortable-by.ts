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
 * that a page costs the same at any depth: `<table>_<column>_sort`, of the rows that aren't deleted.
 */
export function SortableBy<Name extends string>(...names: Name[]): (entity: EntityWith<Name>) => void {
  return (entity) => {
    Reflect.defineMetadata(SORTABLE_BY, ['id', ...names], entity);
    getMetadataArgsStorage().indices.push(...names.map((name) => new SortIndex(entity, name)));
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

/** What `@Index(name, [column, 'id'], { where })` tells TypeORM. Asked for late: decorators above this one say the table. */
class SortIndex implements IndexMetadataArgs {
  readonly columns: string[];
  readonly synchronize = true;

  constructor(
    readonly target: Target,
    private readonly column: string,
  ) {
    this.columns = [column, 'id'];
  }

  /** Left to TypeORM where the table's name is. */
  get name(): string | undefined {
    const table = tableOf(this.target);
    return table && `${table}_${this.column}_sort`;
  }

  get where(): string | undefined {
    const columns = getMetadataArgsStorage().filterColumns(lineageOf(this.target));
    const deletion = columns.find(({ mode }) => mode === 'deleteDate');
    return deletion && `${quoted(deletion.options.name ?? deletion.propertyName)} IS NULL`;
  }
}

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
