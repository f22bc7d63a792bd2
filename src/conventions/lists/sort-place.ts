import type { ObjectLiteral, SelectQueryBuilder } from 'typeorm';
import type { Position } from './cursor';

/** What an entity was sorted by, as the database writes it, where the entity's own value says less. */
const places = new WeakMap<object, string | null>();

/** Where an item stands in the order of a column: what the column is compared with to find the items after it. */
export function placeOf(item: ObjectLiteral, sort: string): Position['value'] {
  const place = places.get(item);
  return place === undefined ? (item[sort] as Position['value']) : place;
}

/**
 * The entities, and where each stands. JavaScript's moments have no microseconds and those without a time zone are another
 * moment in each; an interval is an object, and a transformed value isn't what the database sorts by.
 */
export async function withPlaces<E extends ObjectLiteral>(rows: SelectQueryBuilder<E>, sort: string): Promise<E[]> {
  const { raw, entities } = await rows
    .addSelect(`CAST(${rows.alias}.id AS text)`, 'place_id')
    .addSelect(`CAST(${rows.alias}.${sort} AS text)`, 'place')
    .getRawAndEntities<{ place_id: string; place: string | null }>();
  // With a relation an entity has several of them, all alike.
  const placesById = new Map(raw.map(({ place_id, place }) => [place_id, place]));
  for (const entity of entities) places.set(entity, placesById.get(String(entity.id)) ?? null);
  return entities;
}
