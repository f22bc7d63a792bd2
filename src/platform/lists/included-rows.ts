import type { DataSource, EntityMetadata, ObjectLiteral } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata';
import type { RelationMetadata } from 'typeorm/metadata/RelationMetadata';
import { getTypeParser } from '../database/type-parsers';
import { PlainEntity, quoted } from '../rows/plain-entity';
import { readsColumnsAlone } from '../rows/plain-reasons';
import { hasOwnPool } from '../transactions/cancellable-pool';
import { isWatched } from '../transactions/subscribers';
import { LONG_TYPES } from './row-sizes';

/** Types whose values are the same in JSON as the driver makes them. */
const SAME_IN_JSON: unknown[] = [
  ...['smallint', 'int2', 'integer', 'int', 'int4', 'boolean', 'bool', 'uuid', 'json', 'jsonb'],
  ...['text', 'varchar', 'character varying', 'char', 'character', String, Boolean],
];
/** A double holds so many digits of a decimal number exactly. */
const EXACT_DIGITS = 15;
const DECIMALS: unknown[] = ['numeric', 'decimal'];
/** Types whose values are texts in JSON, of which the driver's parser makes the rest; with their numbers in `pg_type`. */
const PARSED = new Map<unknown, number>([
  ...['bigint', 'int8'].map((type) => [type, 20] as const),
  ...DECIMALS.map((type) => [type, 1700] as const),
  ...['real', 'float4'].map((type) => [type, 700] as const),
  ...['float', 'float8', 'double precision'].map((type) => [type, 701] as const),
  ...['timestamptz', 'timestamp with time zone'].map((type) => [type, 1184] as const),
  ...['timestamp', 'timestamp without time zone', Date].map((type) => [type, 1114] as const),
  ['date', 1082],
  ['bytea', 17],
]);

/** Names in the statements, which no column of an entity has. */
const OTHER = '"included row"';
const ALL = '"included rows"';

type Row = Record<string, unknown>;

/**
 * Rows of another table that belong to one row of a list, read as one JSON text. A join would repeat the row of the list beside
 * each of them, and TypeORM takes ten times as long to make entities of the result.
 */
export class IncludedRows {
  private static readonly known = new WeakMap<RelationMetadata, IncludedRows | null>();
  private readonly plain: PlainEntity<ObjectLiteral>;
  private readonly columns: ColumnMetadata[];
  private readonly parsed: [property: string, parse: (text: string) => unknown][];
  /** The column of the other table that names the row of the list. */
  private readonly owner: string;

  private constructor(database: DataSource, relation: RelationMetadata) {
    const { inverseEntityMetadata: other } = relation;
    this.plain = new PlainEntity(database, other);
    this.columns = readColumns(other);
    this.owner = `${OTHER}.${quoted(relation.inverseRelation!.joinColumns[0].databaseName)}`;
    this.parsed = this.columns
      .filter((column) => !isSameInJson(column))
      .map(({ propertyName, type }) => [propertyName, getTypeParser(PARSED.get(type)!, 'text')]);
  }

  /** Undefined where TypeORM has to make them, as what it makes is more than the columns. */
  static of(database: DataSource, relation: RelationMetadata): IncludedRows | undefined {
    let known = IncludedRows.known.get(relation);
    if (known === undefined) {
      known = hasOwnPool(database) && isReadAsJson(relation) ? new IncludedRows(database, relation) : null;
      IncludedRows.known.set(relation, known);
    }
    return known && !isWatched(database, relation.inverseEntityMetadata) ? known : undefined;
  }

  /** SQL for the text. @param owner SQL for the id of the row of the list @param sort the property to sort by */
  text(owner: string, sort: string): string {
    const columns = this.columns.map((column) => {
      const value = `${OTHER}.${quoted(column.databaseName)}`;
      return `${isSameInJson(column) ? value : `CAST(${value} AS text)`} AS ${quoted(column.propertyName)}`;
    });
    const rows = `SELECT ${columns.join(', ')} ${this.from(owner)} ORDER BY ${OTHER}.${this.plain.column(sort)}`;
    return `(SELECT CAST(json_agg(${ALL}) AS text) FROM (${rows}) AS ${ALL})`;
  }

  /**
   * SQL for the bytes of their long values, as `bytesOf` of row-sizes.ts counts those of the list's own rows.
   * @param each bytes to add for each of them
   */
  bytes(owner: string, each = 0): string {
    const lengths = this.columns
      .filter(({ type }) => LONG_TYPES.includes(type))
      .map(({ databaseName }) => `coalesce(octet_length(CAST(${OTHER}.${quoted(databaseName)} AS text)), 0)`);
    if (each > 0) lengths.push(String(each));
    return lengths.length > 0 ? `(SELECT coalesce(sum(${lengths.join(' + ')}), 0) ${this.from(owner)})` : '0';
  }

  /** Entities of what {@link text} has read. */
  parse(text: string | null): object[] {
    const rows = JSON.parse(text ?? '[]') as Row[];
    return rows.map((row) => {
      for (const [property, parse] of this.parsed) {
        const value = row[property];
        if (value !== null) row[property] = parse(value as string);
      }
      return this.plain.toEntity(row);
    });
  }

  private from(owner: string): string {
    const { table, present } = this.plain;
    return `FROM ${table} AS ${OTHER} WHERE ${this.owner} = ${owner}${present ? ` AND ${OTHER}.${present}` : ''}`;
  }
}

/** The columns that a `find` reads. */
function readColumns({ columns }: EntityMetadata): ColumnMetadata[] {
  return columns.filter(({ isSelect, isVirtual }) => isSelect && !isVirtual);
}

/** True for a relation to many rows that name the id of one row in a column, and are nothing but their columns. */
function isReadAsJson({
  isOneToMany,
  isLazy,
  inverseRelation,
  inverseEntityMetadata: other,
}: RelationMetadata): boolean {
  const joined = inverseRelation?.joinColumns ?? [];
  if (!isOneToMany || isLazy || joined.length !== 1 || joined[0].referencedColumn?.propertyPath !== 'id') return false;
  return readsColumnsAlone(other) && readColumns(other).every((column) => isReadable(column));
}

function isReadable(column: ColumnMetadata): boolean {
  if (column.transformer || column.isVirtualProperty || column.isArray) return false;
  return isSameInJson(column) || PARSED.has(column.type);
}

function isSameInJson({ type, precision }: ColumnMetadata): boolean {
  const isExact = DECIMALS.includes(type) && typeof precision === 'number' && precision <= EXACT_DIGITS;
  return isExact || SAME_IN_JSON.includes(type);
}
