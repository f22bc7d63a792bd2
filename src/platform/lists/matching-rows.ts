import { Brackets, IsNull, type ObjectLiteral, type Repository, type SelectQueryBuilder } from 'typeorm';
import type { Comparison } from '../input/comparison';
import { searchableOf } from '../rows/searchable-by';
import type { Filter } from './conditions';
import { onlyDeleted } from './deleted-rows';
import type { ListQuery } from './list-query';
import type { Equal } from './read-plain-rows';
import { ROW } from './row-sizes';

/** What the rows of a list fulfil, besides what its caller asks. */
export interface MatchingOptions<E> {
  /** Text columns that `search` looks through; those of the entity's `@SearchableBy()` unless given. */
  searchable?: readonly (keyof E & string)[];
  /** A further SQL condition for `search`, which uses `:pattern`. */
  searchIn?: string;
  /** Values that columns must equal, or operators of TypeORM such as `In(ids)`. An undefined value filters nothing. */
  filter?: Filter<E>;
  /**
   * Any other condition, by TypeORM's query builder. The alias of the row is `resource`.
   * @throws {Error} a value with the name of one of the list, such as `:pattern`
   */
  where?: (builder: SelectQueryBuilder<E & ObjectLiteral>) => void;
}

/** If the service and the caller both ask for a status, both conditions apply. */
export function equalities(filter: object = {}, status: string | undefined): Equal {
  return [...Object.entries(filter), ['status', status] as const].filter(([, value]) => value !== undefined) as Equal;
}

export function matchingRows<E extends ObjectLiteral>(
  repository: Repository<E>,
  query: ListQuery,
  { searchable, searchIn, where }: MatchingOptions<E>,
  equal: Equal,
  compared: Comparison[],
): SelectQueryBuilder<E> {
  const { search } = query;
  const builder = repository.createQueryBuilder(ROW);
  // `where` would replace earlier conditions, so each one is added.
  for (const [column, value] of equal) builder.andWhere({ [column]: value ?? IsNull() });
  for (const [index, comparison] of compared.entries()) {
    const condition = comparison.condition(`${ROW}.${comparison.attribute}`, `:compared_${index}`);
    builder.andWhere(condition, { [`compared_${index}`]: comparison.value });
  }
  addOwn(builder, where);
  if (search !== undefined) builder.andWhere(contains(search, searchable ?? searchableOf(repository.target), searchIn));
  onlyDeleted(builder, query);
  return builder;
}

/** Names that this list gives to values: TypeORM would let the later one win, and show rows that the condition hides. */
const RESERVED = /^(?:pattern|compared_\d+|among_(?:ids|texts|places)|found_keys|cursor_(?:id|value))$/;

function addOwn<E extends ObjectLiteral>(builder: SelectQueryBuilder<E>, where: MatchingOptions<E>['where']): void {
  if (!where) return;
  const before = builder.getParameters();
  where(builder);
  const after = builder.getParameters();
  const taken = Object.keys(after).find((name) => RESERVED.test(name) && after[name] !== before[name]);
  if (taken !== undefined) throw new Error(`The list has a parameter :${taken} of its own: rename that of \`where\``);
}

function contains(search: string, columns: readonly string[], elsewhere?: string): Brackets {
  const pattern = `%${search.replace(/[\\%_]/g, '\\$&')}%`;
  const conditions = columns.map((column) => `${ROW}.${column} ILIKE :pattern`).concat(elsewhere ?? []);
  return new Brackets((either) => conditions.forEach((condition) => either.orWhere(condition, { pattern })));
}
