import type { ObjectLiteral, SelectQueryBuilder } from 'typeorm';
import type { Direction, Slice } from './list';
import { ROW } from './row-sizes';

/** SQL that finds the ids of the rows of a page. It is a statement or a part of one. */
export interface FoundIds {
  text: string;
  parameters: ObjectLiteral;
  /** SQL of the order, which refers to the columns that the text returns. */
  order: string;
}

/**
 * SQL for the ids of a slice of the matching rows.
 * @param sort the column to sort by
 * @param bytes SQL for another column beside the id
 */
export function foundIds<E extends ObjectLiteral>(
  matching: SelectQueryBuilder<E>,
  sort: string,
  slice: Slice,
  bytes?: string,
): FoundIds {
  const { direction, limit, ranges = [undefined] } = slice;
  const order = sort === 'id' ? `id ${direction}` : `sorted_by ${direction}, id ${direction}`;
  const found = ranges.map((range) => {
    const ids = sorted(matching.clone().select(`${ROW}.id`, 'id'), sort, direction);
    if (range) ids.andWhere(...range);
    if (bytes !== undefined) ids.addSelect(bytes, 'bytes');
    if (sort !== 'id' && (bytes !== undefined || ranges.length > 1)) ids.addSelect(`${ROW}.${sort}`, 'sorted_by');
    return ids.limit(limit).offset(slice.offset ?? 0);
  });
  const texts = found.map((ids) => ids.getQuery());
  const parameters = Object.assign({}, ...found.map((ids) => ids.getParameters())) as ObjectLiteral;
  if (texts.length === 1) return { text: texts[0], parameters, order };
  const columns = bytes === undefined ? 'id' : '*';
  const all = texts.map((text) => `(${text})`).join(' UNION ALL ');
  return { text: `SELECT ${columns} FROM (${all}) AS ranges ORDER BY ${order} LIMIT ${limit}`, parameters, order };
}

/** A total order: the id breaks ties, so that pages neither overlap nor skip rows. */
export function sorted<E extends ObjectLiteral>(
  builder: SelectQueryBuilder<E>,
  sort: string,
  direction: Direction,
): SelectQueryBuilder<E> {
  return builder.orderBy(`${ROW}.${sort}`, direction).addOrderBy(`${ROW}.id`, direction);
}
