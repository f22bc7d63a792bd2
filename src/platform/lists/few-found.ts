import type { ObjectLiteral, SelectQueryBuilder } from 'typeorm';
import { tableOf } from '../rows/plain-entity';
import { type FoundIds, idsOf, orderOf } from './found-ids';
import type { Slice } from './list';
import { ROW } from './row-sizes';

/** The number of rows up to which a search finds and counts them at once. Where there are more, these are found in vain. */
const FEW = 500;
/** The name of what was found, in the statement. */
const FOUND = 'found_ids_of_few';

/** SQL for the ids of all rows that match, as far as they are few, and for those of a slice among them. */
interface FewFound extends FoundIds {
  all: string;
}

/** Like `foundIds`, for a slice of all rows that match. The sizes of the slice's rows alone are looked at. */
export function fewFound<E extends ObjectLiteral>(
  matching: SelectQueryBuilder<E>,
  sort: string,
  { direction, limit, offset = 0 }: Slice,
  bytes?: string,
): FewFound {
  const found = idsOf(matching).limit(FEW + 1);
  if (sort !== 'id') found.addSelect(`${ROW}.${sort}`, 'sorted_by');
  const all = found.getQuery();
  const order = orderOf(sort, direction);
  const { metadata } = matching.expressionMap.mainAlias!;
  const ids = `SELECT * FROM ${FOUND} ORDER BY ${order} LIMIT ${limit} OFFSET ${offset}`;
  const text =
    bytes === undefined
      ? `SELECT id FROM (${ids}) AS page`
      : `SELECT page.*, ${bytes} AS bytes FROM (${ids}) AS page INNER JOIN ${tableOf(metadata)} AS "${ROW}" ON ${ROW}.id = page.id`;
  return { text, parameters: found.getParameters(), order, all };
}

/** Has a statement find the rows first, and count them. */
export function countFew<E extends ObjectLiteral>(rows: SelectQueryBuilder<E>, { all }: FewFound): void {
  rows
    .addCommonTableExpression(all, FOUND, { materialized: true })
    .addSelect(`(SELECT CAST(count(*) AS integer) FROM ${FOUND})`, 'few_found');
}

/** The number of rows that were found. Undefined if they are not few, or there is none on the page, which nobody has counted then. */
export function fewIn(raw: object[]): number | undefined {
  const [first] = raw as { few_found: number }[];
  return first && first.few_found <= FEW ? first.few_found : undefined;
}
