import type { DataSource, EntityMetadata } from 'typeorm';

/** What node-postgres tells of a constraint that a statement would break. */
export interface BrokenConstraint {
  constraint?: string;
  schema?: string;
  table?: string;
}

/** What a constraint is about, in the words of the API. */
export interface ConstraintSubject {
  /** Properties of the entity, in the constraint's order; none where nothing tells. */
  attributes: string[];
  /** The last word of the name. */
  rule?: string;
}

/** All entities of the process by their table; several may share one. */
const entities = new Map<string, EntityMetadata[]>();

/** Has the constraints of a data source's entities known to {@link subjectOf}. */
export function rememberConstraints({ entityMetadatas, driver }: DataSource): void {
  for (const metadata of entityMetadatas) {
    const key = keyOf(metadata.schema ?? driver.schema, metadata.tableName);
    const others = entities.get(key)?.filter(({ target }) => target !== metadata.target) ?? [];
    entities.set(key, [...others, metadata]);
  }
}

/**
 * Constraints are named `<table>_<attribute>_<rule>`; where that names no attribute of the entity, the columns that TypeORM
 * knows the constraint to have do.
 */
export function subjectOf({ constraint = '', schema = 'public', table = '' }: BrokenConstraint): ConstraintSubject {
  const [, named, rule] = (constraint.startsWith(`${table}_`) && NAME.exec(constraint.slice(table.length))) || [];
  const known = entities.get(keyOf(schema, table)) ?? [];
  const isAttribute = known.some((metadata) => metadata.findColumnWithPropertyName(named ?? ''));
  if (named && isAttribute) return { attributes: [named], rule };
  const attributes = known.map((metadata) => columnsOf(metadata, constraint)).find(({ length }) => length > 0);
  return { attributes: attributes ?? (named ? [named] : []), rule };
}

const NAME = /^_(.+)_([^_]+)$/;

const keyOf = (schema: string | undefined, table: string): string => `${schema}.${table}`;

function columnsOf({ indices, uniques, foreignKeys, checks, columns }: EntityMetadata, constraint: string): string[] {
  const named = [...indices, ...uniques, ...foreignKeys].find(({ name }) => name === constraint);
  if (named) return named.columns.map(({ propertyPath }) => propertyPath);
  const expression = checks.find(({ name }) => name === constraint)?.expression;
  if (!expression) return [];
  const words = new Set(expression.match(/\w+/g));
  return columns.filter(({ databaseName }) => words.has(databaseName)).map(({ propertyPath }) => propertyPath);
}
