import { getMetadataArgsStorage } from 'typeorm';
import type { IndexMetadataArgs } from 'typeorm/metadata-args/IndexMetadataArgs';
import { tableOf, type Target } from './sortable-by';

/** An entity whose objects have these properties. */
type EntityWith<Name extends string> = abstract new () => Record<Name, unknown>;

/** Where an entity keeps the names. */
const SEARCHABLE_BY = 'resource-api:searchable-by';

/**
 * The text columns that `search` looks through. Each needs a trigram index, `<table>_<column>_search`. TypeORM can't express
 * one, so the migration makes it by hand, and TypeORM leaves it alone.
 */
export function SearchableBy<Name extends string>(...names: Name[]): (entity: EntityWith<Name>) => void {
  return (entity) => {
    Reflect.defineMetadata(SEARCHABLE_BY, names, entity);
    getMetadataArgsStorage().indices.push(...names.map((name) => new SearchIndex(entity, name)));
  };
}

/** The names that `@SearchableBy()` says of an entity, if any. */
export function searchableOf(entity: unknown): readonly string[] {
  const names = typeof entity === 'function' ? (Reflect.getMetadata(SEARCHABLE_BY, entity) as string[]) : undefined;
  return names ?? [];
}

/** What `@Index(name, { synchronize: false })` tells TypeORM. */
class SearchIndex implements IndexMetadataArgs {
  readonly synchronize = false;

  constructor(
    readonly target: Target,
    private readonly column: string,
  ) {}

  get name(): string | undefined {
    const table = tableOf(this.target);
    return table && `${table}_${this.column}_search`;
  }
}
