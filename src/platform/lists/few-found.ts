import type { ObjectLiteral, SelectQueryBuilder } from 'typeorm';
import { tableOf } from '../rows/plain-entity';
import { type FoundIds, idsOf, orderOf } from './found-ids';
import type { Slice } from './list';
import { parameterOf, parametersOf, type Range } from './ranges';
import { ROW, SORTED_BY } from './row-sizes';

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
  { direction, limit, offset = 0, ranges = [] }: Slice,
  bytes?: string,
): FewFound {
  const found = idsOfFew(matching, sort);
  // The parameters of a part `WITH` are known when there is its text.
  const all = found.getQuery();
  const order = orderOf(sort, direction);
  const { metadata } = matching.expressionMap.mainAlias!;
  const within = ranges.length > 0 ? `WHERE ${isWithin(ranges)}` : '';
  const ids = `SELECT * FROM ${FOUND} ${within} ORDER BY ${order} LIMIT ${limit} OFFSET ${offset}`;
  const text =
    bytes === undefined
      ? `SELECT id FROM (${ids}) AS page`
      : `SELECT page.*, ${bytes} AS bytes FROM (${ids}) AS page INNER JOIN ${tableOf(metadata)} AS "${ROW}" ON ${ROW}.id = page.id`;
  return { text, parameters: { ...found.getParameters(), ...valuesOf(ranges) }, order, all };
}

/** One more than are few: so it is seen if there are more. */
function idsOfFew<E extends ObjectLiteral>(matching: SelectQueryBuilder<E>, sort: string): SelectQueryBuilder<E> {
  const found = idsOf(matching).limit(FEW + 1);
  return sort === 'id' ? found : found.addSelect(`${ROW}.${sort}`, SORTED_BY);
}

/** SQL of whether what was found is in one of the ranges. */
function isWithin(ranges: Range[]): string {
  const texts = ranges.map(({ condition }) =>
    condition(
      (property) => (property === 'id' ? 'id' : SORTED_BY),
      (name) => `:${parameterOf(name)}`,
    ),
  );
  return texts.map((text) => `(${text})`).join(' OR ');
}

const valuesOf = (ranges: Range[]): ObjectLiteral =>
  Object.assign({}, ...ranges.map(({ values }) => parametersOf(values))) as ObjectLiteral;

/** Has a statement find the rows first, and count them. */
export function countFew<E extends ObjectLiteral>(rows: SelectQueryBuilder<E>, { all }: FewFound): void {
  rows
    .addCommonTableExpression(all, FOUND, { materialized: true })
    .addSelect(`(SELECT CAST(count(*) AS integer) FROM ${FOUND})`, 'few_found');
}

/**
 * The number of all rows that match, where the statement before has found none for the slice. Undefined if they are not few, or if
 * there are some by now: then the slice is read in another way.
 */
export async function numberOfNone<E extends ObjectLiteral>(
  matching: SelectQueryBuilder<E>,
  sort: string,
  { offset = 0, ranges = [] }: Slice,
): Promise<number | undefined> {
  const found = idsOfFew(matching, sort);
  const text = found.getQuery();
  const filter = ranges.length > 0 ? `FILTER (WHERE ${isWithin(ranges)})` : '';
  const counting = matching.createQueryBuilder().select('count(*)', 'total').addSelect(`count(*) ${filter}`, 'within');
  const parameters = { ...found.getParameters(), ...valuesOf(ranges) };
  const row = await counting
    .from(`(${text})`, 'found')
    .setParameters(parameters)
    .getRawOne<{ total: number; within: number }>();
  const { total, within } = row!;
  return total <= FEW && within <= offset ? total : undefined;
}

/** The number of rows that were found; Infinity if they are not few. Undefined if none is on the page. */
export function fewIn(raw: object[]): number | undefined {
  const [first] = raw as { few_found: number }[];
  return first && first.few_found > FEW ? Infinity : first?.few_found;
}
