import type { ObjectLiteral, Repository, SelectQueryBuilder } from 'typeorm';
import { MAX_ANSWER_BYTES, pageTooLarge } from '../answers/largest-size';
import { largestItem, type ListQuery } from './list-query';

/** The alias of the row in every statement of a list. */
export const ROW = 'resource';
/** The alias of the subquery that measures the rows. */
const MEASURED = 'measured';
/** SQL for the id of a row that was found, in what `readWhatFits` adds to its bytes. */
export const FOUND_ID = 'sized.id';

/** The room for the rows of a page: the greatest size of an answer. The first row is read however large it is. */
export interface PageRoom {
  /** True if rows were left out. */
  full: boolean;
}

/** Types of columns whose values can be long. Of the others thousands fit into a page. */
export const LONG_TYPES: unknown[] = ['text', 'varchar', 'character varying', 'citext', 'json', 'jsonb', String];

/** The measured columns beside a row. */
interface Measured {
  /** The number of found rows, up to the size of the page. */
  measured_found: number;
  /** Bytes of the rows up to this one; or of all found rows, if all of them must fit. */
  measured_bytes: number;
}

/** True if this number of items may exceed an answer, according to the documented sizes of their attributes. */
export const mayBeTooLarge = (query: ListQuery, items: number): boolean =>
  largestItem(query) * items > MAX_ANSWER_BYTES;

/**
 * SQL for the size of a row, which the database computes without reading long values. A row's JSON is at least as long,
 * so rows that don't fit by this size can't be sent.
 * @param columns the columns that will be read; all of them when undefined
 */
export function bytesOf<E extends ObjectLiteral>({ metadata }: Repository<E>, columns: string[] | undefined): string {
  const lengths = metadata.columns
    .filter(({ type, isSelect }) => isSelect && LONG_TYPES.includes(type))
    .map(({ propertyName }) => `${ROW}.${propertyName}`)
    .filter((column) => !columns || columns.includes(column))
    .map((column) => `coalesce(octet_length(CAST(${column} AS text)), 0)`);
  return lengths.join(' + ') || '0';
}

/**
 * Has a statement read of the rows that were found those that fit into a page, so that the database never has to hand over
 * more. All of it is one statement: what is read is what was measured, in the very order. The first row comes in any case, as it
 * says how many were found.
 * @param found SQL for their ids and bytes
 * @param order SQL for their order
 * @param included SQL for the bytes of what belongs to each: of the rows that were found alone, not of those before them
 */
export function readWhatFits<E extends ObjectLiteral>(
  rows: SelectQueryBuilder<E>,
  { text: found, order }: { text: string; order: string },
  included: string[],
  room: PageRoom | undefined,
): void {
  const upToHere = room ? `ORDER BY ${order} ROWS UNBOUNDED PRECEDING` : '';
  const measured = `(
    SELECT id, row_number() OVER (ORDER BY ${order}) AS place, CAST(count(*) OVER () AS integer) AS found,
           CAST(sum(${['bytes', ...included].join(' + ')}) OVER (${upToHere}) AS float8) AS bytes
      FROM (${found}) AS sized)`;
  const fits = `(${MEASURED}.place = 1 OR ${MEASURED}.bytes <= ${MAX_ANSWER_BYTES})`;
  rows
    .innerJoin(measured, MEASURED, `${MEASURED}.id = ${ROW}.id AND ${fits}`)
    .addSelect(`${MEASURED}.found`, 'measured_found')
    .addSelect(`${MEASURED}.bytes`, 'measured_bytes');
}

/** @throws {ApiError} VALIDATION_ERROR when not all rows fit and there is no {@link PageRoom} */
export function checkPageRoom(raw: object[], entities: object[], room: PageRoom | undefined): void {
  const [first] = raw as Measured[];
  if (!first) return;
  if (room) room.full = entities.length < first.measured_found;
  else if (first.measured_bytes > MAX_ANSWER_BYTES) throw pageTooLarge();
}
