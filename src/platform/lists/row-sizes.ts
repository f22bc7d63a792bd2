import type { ObjectLiteral, Repository, SelectQueryBuilder } from 'typeorm';
import { MAX_ANSWER, pageTooLarge } from '../answers/largest';
import { largestItem, type ListQuery } from './list-query';

/** The alias of the row in every statement of a list. */
export const ROW = 'resource';
/** The alias of what a statement that measures its rows knows of them. */
const MEASURED = 'measured';

/** What a page has for the rows of a list: as much as an answer may have. The first row is taken however large it is. */
export interface Room {
  /** Whether rows were left out. */
  full: boolean;
}

/** Types of columns whose values can be long. Of the others thousands fit into a page. */
const LONG_TYPES: unknown[] = ['text', 'varchar', 'character varying', 'citext', 'json', 'jsonb', String];

/** What stands beside a row that was measured. */
interface Measured {
  /** How many rows the page asks for, and has found. */
  measured_found: number;
  /** Bytes of the rows up to this one; of all that were found where they are wanted all or none. */
  measured_bytes: number;
}

/** Whether so many items can be more than an answer may have: by what their attributes are documented to be. */
export const mayBeTooLarge = (query: ListQuery, items: number): boolean => largestItem(query) * items > MAX_ANSWER;

/**
 * SQL for the bytes of a row, which the database knows without reading long values. They leave with at least as many, so
 * what doesn't fit into a page by this can't be sent.
 * @param columns those of the rows that are going to be read; all of them when undefined
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
 */
export function readWhatFits<E extends ObjectLiteral>(
  rows: SelectQueryBuilder<E>,
  found: string,
  order: string,
  room: Room | undefined,
): void {
  const upToHere = room ? `ORDER BY ${order} ROWS UNBOUNDED PRECEDING` : '';
  const measured = `(
    SELECT id, row_number() OVER (ORDER BY ${order}) AS place, CAST(count(*) OVER () AS integer) AS found,
           CAST(sum(bytes) OVER (${upToHere}) AS float8) AS bytes
      FROM (${found}) AS sized)`;
  const fits = `(${MEASURED}.place = 1 OR ${MEASURED}.bytes <= ${MAX_ANSWER})`;
  rows
    .innerJoin(measured, MEASURED, `${MEASURED}.id = ${ROW}.id AND ${fits}`)
    .addSelect(`${MEASURED}.found`, 'measured_found')
    .addSelect(`${MEASURED}.bytes`, 'measured_bytes');
}

/** @throws {ApiError} VALIDATION_ERROR when not all fit and there is no {@link Room} */
export function checkRoom(raw: object[], entities: object[], room: Room | undefined): void {
  const [first] = raw as Measured[];
  if (!first) return;
  if (room) room.full = entities.length < first.measured_found;
  else if (first.measured_bytes > MAX_ANSWER) throw pageTooLarge();
}
