import type { ObjectLiteral, SelectQueryBuilder } from 'typeorm';
import { orderOf, type FoundIds } from './found-ids';
import type { Slice } from './list';
import { tableOf } from '../rows/plain-entity';
import { builderCondition } from './ranges';
import { ROW } from './row-sizes';

/** The number of rows up to which a search finds and counts them at once. To find more of them would take longer than a page does. */
const FEW = 2_000;
/** The name of what was found, in the statement. */
const FOUND = 'found_ids_of_few';

/** SQL for the ids of all rows that match, as far as they are few, and for those of a slice among them. */
interface FewFound extends FoundIds {
  all: string;
}

/** Like `foundIds`, for a slice of one range. The sizes of the slice's rows alone are looked at. */
export function fewFound<E extends ObjectLiteral>(
  matching: SelectQueryBuilder<E>,
  sort: string,
  { direction, limit, offset = 0, ranges: [range] = [] }: Slice,
  bytes?: string,
): FewFound {
  const all = matching.clone().select(`${ROW}.id`, 'id');
  if (sort !== 'id') all.addSelect(`${ROW}.${sort}`, 'sorted_by');
  if (range) all.andWhere(...builderCondition(range));
  all.limit(FEW + 1);
  const order = orderOf(sort, direction);
  const { metadata } = matching.expressionMap.mainAlias!;
  const ids = `SELECT * FROM ${FOUND} ORDER BY ${order} LIMIT ${limit} OFFSET ${offset}`;
  const text =
    bytes === undefined
      ? `SELECT id FROM (${ids}) AS page`
      : `SELECT page.*, ${bytes} AS bytes FROM (${ids}) AS page INNER JOIN ${tableOf(metadata)} AS "${ROW}" ON ${ROW}.id = page.id`;
  return { text, parameters: all.getParameters(), order, all: all.getQuery() };
}

/** Has a statement find the rows first, and count them. */
export function countFew<E extends ObjectLiteral>(rows: SelectQueryBuilder<E>, { all }: FewFound): void {
  rows
    .addCommonTableExpression(all, FOUND, { materialized: true })
    .addSelect(`(SELECT CAST(count(*) AS integer) FROM ${FOUND})`, 'few_found');
}

/** The number of rows that were found. Undefined if they are not few, or past the last of them nobody has counted. */
export function fewIn(raw: object[], { offset = 0 }: Slice): number | undefined {
  const [first] = raw as { few_found: number }[];
  if (!first) return offset === 0 ? 0 : undefined;
  return first.few_found <= FEW ? first.few_found : undefined;
}
