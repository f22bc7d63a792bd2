import type { EntityMetadata, ObjectLiteral, SelectQueryBuilder } from 'typeorm';
import { isExact } from '../rows/exact-columns';
import type { Position } from './cursor';
import { momentText } from '../text/moment-text';

/** The sort values of entities, in the database's text form, where the entity's own value is less exact. */
const sortValues = new WeakMap<object, string | null>();

/** The sort value of an item: the later items are found by comparing the column with it. */
export function sortValueOf(item: ObjectLiteral, sort: string): Position['value'] {
  const place = sortValues.get(item);
  if (place !== undefined) return place;
  const value = item[sort] as Position['value'] | Date;
  if (value instanceof Date) return momentText(value);
  // The driver reads the timestamp `infinity` as Infinity, which JSON would turn into null.
  return value === Infinity || value === -Infinity ? String(value) : value;
}

/** True if the entity's own value is the exact sort value. It isn't for a column of an embedded class. */
export function hasExactSortValue(metadata: EntityMetadata, sort: string): boolean {
  const column = metadata.findColumnWithPropertyPath(sort);
  return column?.propertyPath === column?.propertyName && column?.propertyName === sort && isExact(column);
}

/** The columns that {@link selectSortValue} adds to a row. */
interface Placed {
  place_id: string;
  place: string | null;
}

/**
 * Selects the exact sort value of each row as text. JavaScript dates have no microseconds, and a timestamp without a
 * time zone depends on the time zone. An interval is an object. A transformed value isn't what the database sorts by.
 */
export function selectSortValue<E extends ObjectLiteral>(rows: SelectQueryBuilder<E>, sort: string): void {
  rows
    .addSelect(`CAST(${rows.alias}.id AS text)`, 'place_id')
    .addSelect(`CAST(${rows.alias}.${sort} AS text)`, 'place');
}

/** Remembers the sort values of the entities that were made of the rows. */
export function keepSortValues(raw: object[], entities: ObjectLiteral[]): void {
  // With a relation, an entity has several rows, with equal sort values.
  const placesById = new Map((raw as Placed[]).map(({ place_id, place }) => [place_id, place]));
  for (const entity of entities) sortValues.set(entity, placesById.get(String(entity.id)) ?? null);
}
