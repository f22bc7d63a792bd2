import type { EntityMetadata, ObjectLiteral, Repository, SelectQueryBuilder } from 'typeorm';
import { LARGE_BYTES } from '../answers/large-page';
import { MAX_ANSWER_BYTES, pageTooLarge } from '../answers/largest-size';
import { largestItem, type ListQuery } from './list-query';
import { quoted } from '../rows/plain-entity';

/** The alias of the row in every statement of a list. */
export const ROW = 'resource';
/** The alias of the subquery that measures the rows. */
const MEASURED = 'measured';
const WEIGHED = 'weighed';
/** SQL for the id of a row that was found, in what `readWhatFits` adds to its bytes. */
export const FOUND_ID = 'sized.id';
/** The column beside the ids that were found, if the list is sorted by another one. */
export const SORTED_BY = 'sorted_by';

/** The room for the rows of a page: the greatest size of an answer. The first row is read however large it is. */
export interface PageRoom {
  /** True if rows were left out. */
  full: boolean;
}

/** Rows that were found, but not read, because their texts are too large to be read by many at once. */
export interface HeavyRows {
  /** The ids as text. */
  ids: string[];
  /** The values of the column to sort by, as text, one for each id. Undefined if that column is the id. */
  places?: (string | null)[];
  /** The size of their texts in the database. */
  bytes: number;
}

/** Types of columns whose values can be long. Of the others thousands fit into a page. */
export const LONG_TYPES: unknown[] = ['text', 'varchar', 'character varying', 'citext', 'json', 'jsonb', String];

/** The greatest size of a page that is read before its turn. */
export const LIGHT_BYTES = LARGE_BYTES;
/** The part of a documented size that texts take at most in the database: a character of six bytes in JSON has at most four. */
const STORED = 4 / 6;

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

/** True if this number of items may have so large texts that the page should not be read before its turn. */
export const mayBeHeavy = (query: ListQuery, items: number): boolean => mayWeigh(largestItem(query) * items);

/** The same by the greatest size that is documented, in bytes of JSON. */
export const mayWeigh = (largest: number): boolean => largest * STORED > LIGHT_BYTES;

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

/** The same where only this table is read. @param wanted the properties that will be read; all of them when undefined */
export function bytesOfColumns({ columns }: EntityMetadata, wanted: string[] | undefined): string {
  const lengths = columns
    .filter(({ type, isSelect }) => isSelect && LONG_TYPES.includes(type))
    .filter(({ propertyName }) => !wanted || wanted.includes(propertyName))
    .map(({ databaseName }) => `coalesce(octet_length(CAST(${quoted(databaseName)} AS text)), 0)`);
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

/** The columns beside a row of a statement that weighs. */
interface Weighed {
  weighed_bytes: number;
  /** Null if the rows are light. */
  weighed_ids: string[] | null;
  weighed_places?: (string | null)[] | null;
}

/**
 * Has a statement read the rows that were found only if their texts are not large. Otherwise one row comes, which tells what was
 * found. Ordinary rows so cost one statement, and nobody waits before it is known that there is a reason.
 * @param found SQL for their ids and bytes
 * @param included SQL for the bytes of what belongs to each
 * @param isSorted whether the rows are sorted by another column than the id
 */
export function readIfLight<E extends ObjectLiteral>(
  rows: SelectQueryBuilder<E>,
  found: string,
  included: string[],
  isSorted: boolean,
): void {
  const places = isSorted ? `, array_agg(CAST(${SORTED_BY} AS text)) OVER everything AS places` : '';
  const weighed = `(
    SELECT id, CAST(sum(${['bytes', ...included].join(' + ')}) OVER everything AS float8) AS bytes,
           array_agg(CAST(id AS text)) OVER everything AS ids${places}
      FROM (${found}) AS sized WINDOW everything AS ())`;
  const isLight = `${WEIGHED}.bytes <= ${LIGHT_BYTES}`;
  const isMarker = `${WEIGHED}.ids[1] = CAST(${WEIGHED}.id AS text)`;
  const ifHeavy = (column: string) => `CASE WHEN ${isLight} THEN NULL ELSE ${WEIGHED}.${column} END`;
  rows
    .innerJoin(weighed, WEIGHED, `${WEIGHED}.id = ${ROW}.id AND (${isLight} OR ${isMarker})`)
    .addSelect(`${WEIGHED}.bytes`, 'weighed_bytes')
    .addSelect(ifHeavy('ids'), 'weighed_ids');
  if (isSorted) rows.addSelect(ifHeavy('places'), 'weighed_places');
}

/**
 * What was found, if it is too large to be read at once. A single row has been read already.
 * @throws {ApiError} VALIDATION_ERROR when it is known not to fit, as for {@link checkPageRoom}
 */
export function heavyRowsIn(raw: object[], room: PageRoom | undefined, isExact: boolean): HeavyRows | undefined {
  const [first] = raw as Weighed[];
  if (!first?.weighed_ids || first.weighed_ids.length === 1) return undefined;
  if (isExact && !room && first.weighed_bytes > MAX_ANSWER_BYTES) throw pageTooLarge();
  return { ids: first.weighed_ids, places: first.weighed_places ?? undefined, bytes: first.weighed_bytes };
}

/** The number of rows that a statement has found, of which it may have read fewer. */
export const foundIn = (raw: object[]): number => (raw as Measured[])[0]?.measured_found ?? 0;

/** @throws {ApiError} VALIDATION_ERROR when not all rows fit and there is no {@link PageRoom} */
export function checkPageRoom(raw: object[], entities: object[], room: PageRoom | undefined): void {
  const [first] = raw as Measured[];
  if (!first) return;
  if (room) room.full = entities.length < first.measured_found;
  else if (first.measured_bytes > MAX_ANSWER_BYTES) throw pageTooLarge();
}
