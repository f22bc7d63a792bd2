import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata';

/** Types whose JavaScript values, as text, equal the values that the database sorts by. */
const EXACT_TYPES: unknown[] = [
  ...['smallint', 'int2', 'integer', 'int', 'int4', 'bigint', 'int8', 'numeric', 'decimal'],
  ...['text', 'varchar', 'character varying', 'uuid', 'date', String],
];
/** Types of moments. A statement is sent their text, see `PlainEntity.given`. */
export const MOMENTS: unknown[] = ['timestamptz', 'timestamp with time zone'];
const MILLISECONDS = 3;

/** True if an entity's value is the exact sort value of its column, unlike e.g. a timestamp cut to milliseconds. */
export function isExact({ type, precision, transformer, isArray }: ColumnMetadata): boolean {
  if (transformer || isArray) return false;
  if (MOMENTS.includes(type)) return typeof precision === 'number' && precision <= MILLISECONDS;
  return EXACT_TYPES.includes(type);
}
