import type { DataSource, EntityMetadata } from 'typeorm';

/** The properties of node-postgres's error about a violated constraint. */
export interface BrokenConstraint {
  constraint?: string;
  schema?: string;
  table?: string;
}

/** The subject of a constraint, in the API's words. */
export interface ConstraintSubject {
  /** The entity's properties, in the order of the constraint; empty if they are unknown. */
  attributes: string[];
  /** The last part of the constraint's name. */
  rule?: string;
}

/** All entities of the process by their tables. Several entities may share a table. */
const entities = new Map<string, EntityMetadata[]>();

/** Registers the entities of a data source for {@link subjectOf}. */
export function rememberConstraints({ entityMetadatas, driver }: DataSource): void {
  for (const metadata of entityMetadatas) {
    const key = keyOf(metadata.schema ?? driver.schema, metadata.tableName);
    const others = entities.get(key)?.filter(({ target }) => target !== metadata.target) ?? [];
    entities.set(key, [...others, metadata]);
  }
}

/**
 * Finds the attributes of a constraint by its name, `<table>_<attribute>_<rule>`. If the name contains no attribute of
 * the entity, TypeORM's metadata of the constraint is used.
 */
export function subjectOf({ constraint = '', schema = 'public', table = '' }: BrokenConstraint): ConstraintSubject {
  if (constraint === `${table}_fkey`) return linkOf(schema, table);
  const known = entities.get(keyOf(schema, table)) ?? [];
  const relation = known.map((metadata) => relationOf(metadata, constraint)).find((name) => name !== undefined);
  if (relation !== undefined) return { attributes: [relation], rule: 'fkey' };
  const [, named, rule] = (constraint.startsWith(`${table}_`) && NAME.exec(constraint.slice(table.length))) || [];
  const isAttribute = known.some((metadata) => metadata.findColumnWithPropertyName(named ?? ''));
  if (named && isAttribute) return { attributes: [named], rule };
  const attributes = known.map((metadata) => columnsOf(metadata, constraint)).find(({ length }) => length > 0);
  return { attributes: attributes ?? (named ? [named] : []), rule };
}

/**
 * The many-to-many relation whose rows refer to a missing one, as its entity calls it. Nobody outside knows the table between,
 * and TypeORM makes up the names of its columns.
 */
function relationOf(junction: EntityMetadata, constraint: string): string | undefined {
  const broken = junction.isJunction ? junction.foreignKeys.find(({ name }) => name === constraint) : undefined;
  if (!broken) return undefined;
  const relations = [...entities.values()].flat().flatMap(({ manyToManyRelations }) => manyToManyRelations);
  const namesTarget = broken.columns.every((column) => junction.inverseColumns.includes(column));
  return relations.find(
    ({ junctionEntityMetadata, isOwning }) =>
      junctionEntityMetadata?.tablePath === junction.tablePath && isOwning === namesTarget,
  )?.propertyPath;
}

/** The table of `linkRows` is called `<table>_<attribute>`. */
function linkOf(schema: string, link: string): ConstraintSubject {
  const tables = [...entities.values()].flat().filter((metadata) => link.startsWith(`${metadata.tableName}_`));
  const attributes = tables.flatMap((metadata) => {
    const column = metadata.findColumnWithDatabaseName(link.slice(metadata.tableName.length + 1));
    return column?.isArray && (metadata.schema ?? schema) === schema ? [column.propertyPath] : [];
  });
  return { attributes, rule: 'fkey' };
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
