import type { ObjectLiteral, SelectQueryBuilder } from 'typeorm';
import { tableOf } from '../rows/plain-entity';
import { countFound, type FoundIds, idsOf, orderOf } from './found-ids';
import type { Slice } from './list';
import type { Range } from './ranges';
import { ROW } from './row-sizes';

/** The number of rows up to which a search finds and counts them at once. Where there are more, these are found in vain. */
const FEW = 500;
/** The name of what was found, in the statement, and of its column beside the id. */
const FOUND = 'found_ids_of_few';
const SORTED_BY = 'sorted_by';

/** SQL for the ids of all rows that match, as far as they are few, and for those of a slice among them. */
interface FewFound extends FoundIds {
  all: string;
}

/** Like `foundIds`, for a slice of all rows that match. The sizes of the slice's rows alone are looked at. */
export function fewFound<E extends ObjectLiteral>(
  matching: SelectQueryBuilder<E>,
  sort: string,
  { direction, limit, offset = 0, ranges = [] }: Slice,
  bytes?: string,
): FewFound {
  const found = idsOf(matching).limit(FEW + 1);
  if (sort !== 'id') found.addSelect(`${ROW}.${sort}`, SORTED_BY);
  const all = found.getQuery();
  const order = orderOf(sort, direction);
  const { metadata } = matching.expressionMap.mainAlias!;
  const within = ranges.length > 0 ? `WHERE ${ranges.map(conditionOf).join(' OR ')}` : '';
  const ids = `SELECT * FROM ${FOUND} ${within} ORDER BY ${order} LIMIT ${limit} OFFSET ${offset}`;
  const text =
    bytes === undefined
      ? `SELECT id FROM (${ids}) AS page`
      : `SELECT page.*, ${bytes} AS bytes FROM (${ids}) AS page INNER JOIN ${tableOf(metadata)} AS "${ROW}" ON ${ROW}.id = page.id`;
  const parameters = Object.assign(found.getParameters(), ...ranges.map(({ values }) => values)) as ObjectLiteral;
  return { text, parameters, order, all };
}

/** The condition of a range, of what was found. */
function conditionOf({ condition }: Range): string {
  const text = condition(
    (property) => (property === 'id' ? 'id' : SORTED_BY),
    (name) => `:${name}`,
  );
  return `(${text})`;
}

/** Has a statement find the rows first, and count them. */
export function countFew<E extends ObjectLiteral>(rows: SelectQueryBuilder<E>, { all }: FewFound): void {
  rows
    .addCommonTableExpression(all, FOUND, { materialized: true })
    .addSelect(`(SELECT CAST(count(*) AS integer) FROM ${FOUND})`, 'few_found');
}

/** The number of all rows that match, where none of them is on the page. Undefined if they are not few. */
export async function numberOfFew<E extends ObjectLiteral>(
  matching: SelectQueryBuilder<E>,
): Promise<number | undefined> {
  const number = await countFound(matching, FEW + 1);
  return number <= FEW ? number : undefined;
}

/** The number of rows that were found. Undefined if they are not few, or there is none on the page, which nobody has counted then. */
export function fewIn(raw: object[]): number | undefined {
  const [first] = raw as { few_found: number }[];
  return first && first.few_found <= FEW ? first.few_found : undefined;
}
