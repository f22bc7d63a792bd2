import { isDeepStrictEqual } from 'node:util';
import {
  type EntityManager,
  FindOptionsUtils,
  type ObjectLiteral,
  type Repository,
  type SelectQueryBuilder,
} from 'typeorm';
import type { Caller } from '../auth/caller';
import type { Includable, IncludedRow, Relation } from '../input/includes';
import { type PlainEntity, plainEntity } from '../rows/plain-entity';
import { type FoundRows, selectIncluded, textsOf } from './found-rows';
import { BYTES_OF_INCLUDED, includedIn } from './read-rows';
import { bytesOf, ROW } from './row-sizes';

/** The rows that an answer includes by one relation. */
export interface Wanted {
  relation: Relation;
  /** The values that the rows are found by, each once, in the order in which the answer is made. */
  keys: number[];
  caller: Caller | undefined;
  /** The number of rows of each key. */
  limit: number;
  /** Whether all rows of each key are counted. */
  counts: boolean;
}

/** How much a statement reads: all rows if they have at most so many bytes together, or the first keys that do. */
export interface Bound {
  of: 'all' | 'first';
  bytes: number;
}

/** What a statement has read. */
export interface RelatedRead extends FoundRows<IncludedRow> {
  /** The number of all rows by key, if they are counted. Keys without rows are left out. */
  totals: Map<number, number>;
  /** False if rows were left out. */
  isWhole: boolean;
  /** How many of the first keys have all their rows. */
  complete: number;
  /** Bytes of the texts of all rows that were found. */
  bytes: number;
}

/** The columns beside a row. */
interface Placed {
  /** The number of the key, from 1. */
  related_place: number;
  /** By key, in the first row alone. */
  related_totals: Record<string, number> | null;
  /** The number of all rows that were found. */
  related_found: number;
  /** Bytes of all rows that were found, and of those of this key and the keys before it. */
  related_all: number;
  related_first: number;
}

/** The alias of the subquery that finds the rows. */
const RELATED = 'related';

/**
 * Reads the rows of all keys in one statement. It finds their ids first, by the index of each key, and measures them. If
 * they are too large, it returns one row, which tells how large they are.
 */
export async function readRelated(manager: EntityManager, wanted: Wanted, bound: Bound): Promise<RelatedRead> {
  const repository = manager.getRepository(wanted.relation.rows.entity);
  const rows = repository.createQueryBuilder(ROW);
  const { joined, included } = includedIn(repository, undefined, wanted.relation.rows.relations);
  const owned = included.map(([, other]) => other.bytes(`"${ROW}"."id"`, BYTES_OF_INCLUDED));
  const matching = matchingRows(repository, wanted);
  const found = foundRows(matching, wanted, [bytesOf(repository, undefined), ...owned].join(' + '));
  const fits = `(${RELATED}.rank = 1 OR ${RELATED}.bytes_of_${bound.of} <= ${bound.bytes})`;
  rows.innerJoin(`(${found})`, RELATED, `${RELATED}.id = ${ROW}.id AND ${fits}`);
  rows.setParameters({ ...matching.getParameters(), related_keys: wanted.keys });
  const plain = joined.length === 0 ? plainEntity(manager.dataSource, repository.target) : undefined;
  if (plain) selectColumns(rows, plain);
  else FindOptionsUtils.joinEagerRelations(rows, ROW, repository.metadata);
  for (const [relation, column] of joined) {
    rows.leftJoinAndSelect(`${ROW}.${relation}`, relation).addOrderBy(`${relation}.${column}`);
  }
  selectPlaces(rows);
  selectIncluded(rows, included);
  const { raw, entities } = plain ? await readPlain(rows, plain) : await rows.getRawAndEntities<object>();
  const texts = textsOf(raw as Record<string, string | null>[], included);
  return { entities, included: texts, ...measured(raw as Placed[], entities.length, wanted, bound) };
}

/** The rows of a key that the caller may read. The key is a column of the statement around them. */
function matchingRows(
  repository: Repository<IncludedRow>,
  { relation, caller }: Wanted,
): SelectQueryBuilder<IncludedRow> {
  const matching = repository.createQueryBuilder(ROW).where(`${ROW}.${relation.by} = wanted.key`);
  return onlyReadable(matching, relation.rows, caller);
}

/**
 * Excludes rows that the caller may not read, and rows whose parent it may not read.
 * @throws {Error} if two conditions of resources give one parameter different values
 */
export function onlyReadable(
  builder: SelectQueryBuilder<IncludedRow>,
  { where, belongsTo }: Includable,
  caller: Caller | undefined,
): SelectQueryBuilder<IncludedRow> {
  const { alias } = builder;
  where?.(builder, caller, alias);
  if (!belongsTo) return builder;
  const { rows, by } = belongsTo;
  const parent = `${alias}_parent`;
  const own = { ...builder.getParameters() };
  // A subquery, so that TypeORM numbers the parameters of both conditions together.
  const parents = builder.subQuery().select('1').from(rows.entity, parent).where(`${parent}.id = ${alias}.${by}`);
  onlyReadable(parents, rows, caller);
  requireSame(own, { ...builder.getParameters(), ...parents.getParameters() });
  return builder.andWhere(`EXISTS ${parents.getQuery()}`, parents.getParameters());
}

/** TypeORM would let the later value win, and show rows that the earlier condition hides. */
function requireSame(own: ObjectLiteral, all: ObjectLiteral): void {
  const name = Object.keys(own).find((one) => !isDeepStrictEqual(own[one], all[one]));
  if (name !== undefined)
    throw new Error(`Two conditions of included rows give the parameter :${name} different values`);
}

/** SQL for the ids of the rows, in the order of their keys. */
function foundRows(matching: SelectQueryBuilder<IncludedRow>, { limit, counts }: Wanted, bytes: string): string {
  const ids = matching.clone().select(`${ROW}.id`, 'id').addSelect(bytes, 'bytes').orderBy(`${ROW}.id`).limit(limit);
  const counted = `CROSS JOIN LATERAL (${matching.clone().select('count(*)', 'total').getQuery()}) AS counted`;
  return `
    SELECT wanted.place, found.id, ${counts ? 'jsonb_object_agg(wanted.key, counted.total) OVER ()' : 'NULL'} AS totals,
           row_number() OVER (ORDER BY wanted.place, found.id) AS rank, CAST(count(*) OVER () AS integer) AS found,
           CAST(sum(found.bytes) OVER () AS float8) AS bytes_of_all,
           CAST(sum(found.bytes) OVER (ORDER BY wanted.place) AS float8) AS bytes_of_first
      FROM unnest(CAST(:related_keys AS bigint[])) WITH ORDINALITY AS wanted(key, place)
           ${counts ? counted : ''}
     CROSS JOIN LATERAL (${ids.getQuery()}) AS found`;
}

function selectPlaces(rows: SelectQueryBuilder<IncludedRow>): void {
  rows
    .addSelect(`${RELATED}.place`, 'related_place')
    .addSelect(`CASE WHEN ${RELATED}.rank = 1 THEN ${RELATED}.totals END`, 'related_totals')
    .addSelect(`${RELATED}.found`, 'related_found')
    .addSelect(`${RELATED}.bytes_of_all`, 'related_all')
    .addSelect(`${RELATED}.bytes_of_first`, 'related_first');
}

/** Selects what `find` reads, by the names of the properties. */
function selectColumns(rows: SelectQueryBuilder<IncludedRow>, plain: PlainEntity<IncludedRow>): void {
  rows.select([]);
  for (const { propertyName, isSelect } of plain.metadata.columns) {
    if (isSelect && plain.has(propertyName)) rows.addSelect(`${ROW}.${propertyName}`, propertyName);
  }
}

/** TypeORM takes ten times as long to make entities of thousands of rows. */
async function readPlain(rows: SelectQueryBuilder<IncludedRow>, plain: PlainEntity<IncludedRow>) {
  const raw = await rows.getRawMany<object>();
  return { raw, entities: raw.map((row) => plain.toEntity({ ...row })) };
}

function measured(raw: Placed[], read: number, { keys }: Wanted, { of, bytes }: Bound) {
  const [first] = raw;
  const counted = raw.find(({ related_totals }) => related_totals !== null)?.related_totals;
  const totals = new Map(Object.entries(counted ?? {}).map(([key, total]) => [Number(key), total]));
  if (!first || read === first.related_found) return { totals, isWhole: true, complete: keys.length, bytes: 0 };
  const fitting = raw.filter(({ related_first }) => of === 'first' && related_first <= bytes);
  const complete = Math.max(0, ...fitting.map(({ related_place }) => related_place));
  return { totals, isWhole: false, complete, bytes: first.related_all };
}
