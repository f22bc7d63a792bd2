import type { ObjectLiteral, Repository, SelectQueryBuilder } from 'typeorm';
import { type ApiError, validationError } from '../errors/api-error';
import { MAX_ANSWER } from '../responses/largest';
import { largestItem, type ListQuery } from './list-query';

/** The alias of the row in every statement of a list. */
export const ROW = 'resource';

/** What a page has left for the rows of a list. */
export interface Room {
  /** Bytes; the first row is taken however large it is. */
  bytes: number;
  /** Whether rows were left out. */
  full: boolean;
}

/** Types of columns whose values can be long. Of the others thousands fit into a page. */
const LONG_TYPES: unknown[] = ['text', 'varchar', 'character varying', 'citext', 'json', 'jsonb', String];

interface SizedId {
  id: number;
  bytes: number;
}

/** Whether so many items can be more than an answer may have: by what their attributes are documented to be. */
export const mayBeTooLarge = (query: ListQuery, items: number): boolean => largestItem(query) * items > MAX_ANSWER;

/**
 * Of the rows that a page asks for those that fit into it, so that the database never has to hand over more. It knows the
 * lengths of long values without reading them. They leave with at least as many bytes, so what doesn't fit here can't be sent.
 * @param columns those of the rows that are going to be read; all of them when undefined
 * @throws {ApiError} VALIDATION_ERROR when not all fit and there is no {@link Room}
 */
export async function idsThatFit<E extends ObjectLiteral>(
  ids: SelectQueryBuilder<E>,
  { metadata }: Repository<E>,
  columns: string[] | undefined,
  room: Room | undefined,
): Promise<number[]> {
  const lengths = metadata.columns
    .filter(({ type, isSelect }) => isSelect && LONG_TYPES.includes(type))
    .map(({ propertyName }) => `${ROW}.${propertyName}`)
    .filter((column) => !columns || columns.includes(column))
    .map((column) => `coalesce(octet_length(CAST(${column} AS text)), 0)`);
  ids.addSelect(lengths.join(' + ') || '0', 'bytes');
  const rows = await ids.getRawMany<SizedId>();
  const fit = room ? rows.filter((row) => fits(row, room)) : rows;
  if (!room && rows.reduce((sum, { bytes }) => sum + bytes, 0) > MAX_ANSWER) throw pageTooLarge();
  return fit.map(({ id }) => id);
}

/** Takes the row's place in the room; behind one that doesn't fit, none does. */
function fits({ bytes }: SizedId, room: Room): boolean {
  const isFirst = room.bytes === MAX_ANSWER;
  room.full ||= bytes > room.bytes && !isFirst;
  if (!room.full) room.bytes -= bytes;
  return !room.full;
}

/** 400 for a page that an answer has no room for. */
export function pageTooLarge(): ApiError {
  const message = `must be smaller: the page would have more than ${MAX_ANSWER / 2 ** 20} MiB`;
  return validationError([{ field: 'size', rule: 'bytes', message }]);
}
