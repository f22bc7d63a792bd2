import type { EntityMetadata, ObjectLiteral, SelectQueryBuilder } from 'typeorm';
import { isExact } from '../rows/plain-entity';
import type { Position } from './cursor';

/** What an entity was sorted by, as the database writes it, where the entity's own value says less. */
const places = new WeakMap<object, string | null>();

/** Where an item stands in the order of a column: what the column is compared with to find the items after it. */
export function placeOf(item: ObjectLiteral, sort: string): Position['value'] {
  const place = places.get(item);
  if (place !== undefined) return place;
  const value = item[sort] as Position['value'] | Date;
  if (value instanceof Date) return placeOfMoment(value);
  // The driver's value for `infinity` of a moment, which JSON would make null.
  return value === Infinity || value === -Infinity ? String(value) : value;
}

/** As PostgreSQL reads it: ISO 8601 writes the years before the first and those of five digits otherwise. */
function placeOfMoment(moment: Date): string {
  const year = moment.getUTCFullYear();
  const text = moment.toISOString();
  if (year > 0 && year < 10_000) return text;
  const rest = text.slice(text.indexOf('-', 1));
  return year > 0 ? `${year}${rest}` : `${String(1 - year).padStart(4, '0')}${rest} BC`;
}

/** Whether an entity's own value tells where it stands in the order of a column, which may be one of an embedded class. */
export function tellsPlace(metadata: EntityMetadata, sort: string): boolean {
  const column = metadata.findColumnWithPropertyPath(sort);
  return column?.propertyPath === column?.propertyName && column?.propertyName === sort && isExact(column);
}

/** What a row that tells its place has beside its columns. */
interface Placed {
  place_id: string;
  place: string | null;
}

/**
 * Has a statement tell where each row stands. JavaScript's moments have no microseconds and those without a time zone are
 * another moment in each; an interval is an object, and a transformed value isn't what the database sorts by.
 */
export function selectPlace<E extends ObjectLiteral>(rows: SelectQueryBuilder<E>, sort: string): void {
  rows
    .addSelect(`CAST(${rows.alias}.id AS text)`, 'place_id')
    .addSelect(`CAST(${rows.alias}.${sort} AS text)`, 'place');
}

/** Remembers it of the entities that were made of the rows. */
export function keepPlaces(raw: object[], entities: ObjectLiteral[]): void {
  // With a relation an entity has several of them, all alike.
  const placesById = new Map((raw as Placed[]).map(({ place_id, place }) => [place_id, place]));
  for (const entity of entities) places.set(entity, placesById.get(String(entity.id)) ?? null);
}
