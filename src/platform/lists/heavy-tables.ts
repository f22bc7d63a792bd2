import type { EntityMetadata, ObjectLiteral } from 'typeorm';
import { charactersIn } from '../answers/large-page';
import { minutes } from '../units';
import { LIGHT_BYTES } from './row-sizes';

/** How long the lists of a table are weighed after one of them was large, in milliseconds. */
const LATELY = minutes(1);
/** The greatest number of bytes that a UTF-16 unit takes in the database. */
const BYTES_PER_UNIT = 3;

/** When a large list was seen of each table, by the clock of `performance`. */
const seen = new WeakMap<EntityMetadata, number>();

/** Whether lists of this table were large lately, so that others may be. */
export const wasHeavy = (table: EntityMetadata): boolean => performance.now() - (seen.get(table) ?? -Infinity) < LATELY;

export const noteHeavy = (table: EntityMetadata): void => void seen.set(table, performance.now());

/** Looks at rows that were read without being weighed. @param included characters of what they include */
export function noteIfHeavy(table: EntityMetadata, rows: ObjectLiteral[], included: number): void {
  if (BYTES_PER_UNIT * (charactersIn(rows) + included) > LIGHT_BYTES) noteHeavy(table);
}
