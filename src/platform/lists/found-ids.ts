import type { ObjectLiteral, SelectQueryBuilder } from 'typeorm';
import type { Slice } from './list';
import { builderCondition, type Direction } from './ranges';
import { type HeavyRows, ROW, SORTED_BY } from './row-sizes';

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
  const { direction, limit, only, offset = 0 } = slice;
  const keys = only ? undefined : slice.keys;
  const ranges = (only ? undefined : slice.ranges) ?? [undefined];
  const order = orderOf(sort, direction);
  const found = ranges.map((range) => {
    const ids = sorted(idsOf(matching), sort, direction);
    if (range) ids.andWhere(...builderCondition(range));
    if (bytes !== undefined) ids.addSelect(bytes, 'bytes');
    if (sort !== 'id' && (bytes !== undefined || ranges.length > 1)) ids.addSelect(`${ROW}.${sort}`, SORTED_BY);
    if (keys) return ids.andWhere(`${ROW}.${keys.column} = wanted.key`).limit(offset + limit);
    return only ? among(ids, only, sort) : ids.limit(limit).offset(offset);
  });
  const page = `ORDER BY ${order} LIMIT ${limit} OFFSET ${offset}`;
  const texts = found.map((ids) => (keys ? `${ofEachKey(ids.getQuery())} ${page}` : ids.getQuery()));
  const own = found.map((ids) => ids.getParameters());
  const parameters = Object.assign({}, ...own, keys && { found_keys: keys.ids }) as ObjectLiteral;
  if (texts.length === 1) return { text: texts[0], parameters, order };
  const columns = bytes === undefined ? 'id' : '*';
  const all = texts.map((text) => `(${text})`).join(' UNION ALL ');
  return { text: `SELECT ${columns} FROM (${all}) AS ranges ORDER BY ${order} LIMIT ${limit}`, parameters, order };
}

/** The ids of all rows alone, in no order, whatever part and order the list's own conditions ask for. */
export const idsOf = <E extends ObjectLiteral>(matching: SelectQueryBuilder<E>): SelectQueryBuilder<E> =>
  matching
    .clone()
    .orderBy()
    .offset(undefined)
    .limit(undefined)
    .skip(undefined)
    .take(undefined)
    .select(`${ROW}.id`, 'id');

/** Counts all rows that match. */
export async function countFound<E extends ObjectLiteral>(matching: SelectQueryBuilder<E>): Promise<number> {
  const found = idsOf(matching);
  // The parameters of a part `WITH` are known when there is its text. getCount() would count DISTINCT ids, which sorts all of them.
  const text = `(${found.getQuery()})`;
  const counting = matching.createQueryBuilder().select('count(*)', 'total').from(text, 'found');
  const row = await counting.setParameters(found.getParameters()).getRawOne<{ total: number }>();
  return row?.total ?? 0;
}

/** SQL of the order of found ids. */
export const orderOf = (sort: string, direction: Direction): string =>
  sort === 'id' ? `id ${direction}` : `${SORTED_BY} ${direction}, id ${direction}`;

/** @param ids SQL for the ids of the rows of `wanted.key` */
function ofEachKey(ids: string): string {
  return `SELECT found.* FROM unnest(CAST(:found_keys AS bigint[])) AS wanted(key) CROSS JOIN LATERAL (${ids}) AS found`;
}

/** Has the rows selected that are still where they were found: those that were given another value come elsewhere now. */
function among<E extends ObjectLiteral>(
  builder: SelectQueryBuilder<E>,
  { ids, places }: HeavyRows,
  sort: string,
): SelectQueryBuilder<E> {
  builder.andWhere(`${ROW}.id = ANY(:among_ids)`, { among_ids: ids });
  if (!places) return builder;
  const found = 'unnest(CAST(:among_texts AS text[]), CAST(:among_places AS text[])) AS among(id, place)';
  const place = `CAST(${ROW}.${sort} AS text)`;
  return builder.andWhere(
    `EXISTS (SELECT FROM ${found} WHERE among.id = CAST(${ROW}.id AS text) AND among.place IS NOT DISTINCT FROM ${place})`,
    { among_texts: ids, among_places: places },
  );
}

/** A total order: the id breaks ties, so that pages neither overlap nor skip rows. */
export function sorted<E extends ObjectLiteral>(
  builder: SelectQueryBuilder<E>,
  sort: string,
  direction: Direction,
): SelectQueryBuilder<E> {
  return builder.orderBy(`${ROW}.${sort}`, direction).addOrderBy(`${ROW}.id`, direction);
}
