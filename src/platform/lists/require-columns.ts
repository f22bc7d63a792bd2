import { type EntityMetadata, FindOperator } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata';
import { searchableOf } from '../rows/searchable-by';
import { FILTERABLE, KEEPS_DELETED, type ListQuery, SORTABLE } from './list-query';

/** The columns that a list names. */
interface Named {
  searchable?: readonly string[];
  filter?: object;
  include?: Partial<Record<string, string>>;
}

/** Types that `ILIKE` can search. The columns of a view have no type. */
const TEXTS: unknown[] = [undefined, '', String, 'text', 'varchar', 'character varying', 'char', 'character', 'citext'];
/** Types of an id that can't be computed with, which the cursor of an empty page requires. */
const NO_NUMBERS: unknown[] = [...TEXTS.slice(2), 'uuid'];

/** Names that were checked before: a list names the same columns in each request. */
const found = new WeakMap<EntityMetadata, { names: Set<string>; sortable: WeakSet<object> }>();

/**
 * Refuses, at its first request, a list that names columns which its entity doesn't have. Otherwise only some requests
 * would fail or give wrong results.
 * @throws {Error} that names what is missing
 */
export function requireColumns(metadata: EntityMetadata, query: ListQuery, named: Named): void {
  let known = found.get(metadata);
  if (!known) {
    requireId(metadata);
    for (const name of searchableOf(metadata.target)) requireText(metadata, name);
    found.set(metadata, (known = { names: new Set(), sortable: new WeakSet() }));
  }
  const { names, sortable } = known;
  const once = (kind: string, name: string, check: () => void) => {
    const key = `${kind} ${name}`;
    if (names.has(key)) return;
    check();
    names.add(key);
  };
  const sorts = query[SORTABLE];
  if (sorts && !sortable.has(sorts)) {
    for (const name of sorts) requireSortable(metadata, name);
    sortable.add(sorts);
  }
  for (const name of query[FILTERABLE] ?? []) once('compares', name, () => requireComparable(metadata, name));
  if (query[KEEPS_DELETED]) once('lists', 'deleted rows', () => requireDeletion(metadata));
  for (const name of named.searchable ?? []) once('searches', name, () => requireText(metadata, name));
  for (const [name, value] of Object.entries(named.filter ?? {})) {
    const isOperator = value instanceof FindOperator;
    once(isOperator ? 'filters by operators of' : 'filters by', name, () =>
      requireProperty(metadata, name, isOperator),
    );
  }
  for (const [name, column] of Object.entries(named.include ?? {})) {
    once('includes', `${name}.${column}`, () => requireRelation(metadata, name, column!));
  }
}

function requireId({ name, columns, primaryColumns }: EntityMetadata): void {
  const id = columns.find(({ propertyPath }) => propertyPath === 'id');
  if (!id) throw new Error(`${name} has no column for id, which a list needs: the id breaks ties. ${HOW_TO_READ}`);
  if (NO_NUMBERS.includes(id.type) || primaryColumns.length > 1)
    throw new Error(`The id of ${name} is no number that is unique, which a list needs. ${HOW_TO_READ}`);
}

const HOW_TO_READ = 'Name a column `id`, or read it by the repository instead of paginate()';

function requireSortable(metadata: EntityMetadata, name: string): void {
  if (columnOf(metadata, name)) return;
  const way = 'Sort by a column of the table itself, with an index (see `sortable` of ListQueryOf), or of a view';
  throw new Error(`A list sorts ${metadata.name} by ${name}, which is none of its columns. ${way}`);
}

/** The value of a parameter is compared with what the database has, as it is. */
function requireComparable(metadata: EntityMetadata, name: string): void {
  const column = columnOf(metadata, name);
  if (column && !column.transformer) return;
  const way = 'Name only columns of the table itself without a transformer in `filterable` of ListQueryOf';
  throw new Error(`A list is filterable by ${name}, which is no such column of ${metadata.name}. ${way}`);
}

function requireDeletion({ name, deleteDateColumn }: EntityMetadata): void {
  if (deleteDateColumn) return;
  throw new Error(
    `A list has the deleted rows of ${name}, which has no @DeleteDateColumn(). Leave out \`deleted: true\``,
  );
}

/** Excludes a `@VirtualColumn`, which is a subquery for each row. */
function columnOf(metadata: EntityMetadata, name: string): ColumnMetadata | undefined {
  const column = metadata.findColumnWithPropertyPath(name);
  return column?.isVirtualProperty ? undefined : column;
}

function requireText(metadata: EntityMetadata, name: string): void {
  const column = columnOf(metadata, name);
  const way = 'Say in `searchIn` where else to look, as an SQL condition on :pattern';
  if (!column) throw new Error(`A list searches ${name}, which is no column of ${metadata.name}. ${way}`);
  if (column.isArray || !TEXTS.includes(column.type))
    throw new Error(`A list searches ${name} of ${metadata.name}, which is ${String(column.type)} and no text. ${way}`);
}

function requireProperty(metadata: EntityMetadata, name: string, isOperator: boolean): void {
  const relation = metadata.findRelationWithPropertyPath(name);
  if (relation && isOperator) {
    const [{ propertyPath } = { propertyPath: name }] = relation.joinColumns;
    const way = propertyPath === name ? 'join it in `where`' : `filter by ${propertyPath}`;
    throw new Error(
      `A list compares the relation ${name} of ${metadata.name} by an operator, which matches nothing: ${way}`,
    );
  }
  const isKnown = relation ?? metadata.findColumnWithPropertyPath(name) ?? metadata.findEmbeddedWithPropertyPath(name);
  if (isKnown) return;
  const way = 'Other conditions stand in `where`';
  throw new Error(`A list filters by ${name}, which is no column of ${metadata.name}. ${way}`);
}

function requireRelation(metadata: EntityMetadata, name: string, column: string): void {
  const relation = metadata.findRelationWithPropertyPath(name);
  if (!relation) {
    const names = metadata.relations.map(({ propertyPath }) => propertyPath).join(', ') || 'none';
    throw new Error(`A list includes ${name}, which is no relation of ${metadata.name}; it has ${names}`);
  }
  const { inverseEntityMetadata: other } = relation;
  if (other.findColumnWithPropertyPath(column)) return;
  throw new Error(`A list sorts ${name} by ${column}, which is no column of ${other.name}`);
}
