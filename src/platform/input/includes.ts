import type { ObjectLiteral, SelectQueryBuilder } from 'typeorm';
import { type Caller, hasRole, isAdmin, type Role } from '../auth/caller';
import { validationError } from '../errors/api-error';
import { attributesOf, type DtoClass, namesIn } from './fields';

export interface IncludedRow extends ObjectLiteral {
  id: number;
}

/**
 * Says that many rows of this resource belong to one row of another, the parent, which may include them. Nobody may read
 * rows whose parent is hidden.
 */
export interface BelongsTo {
  /** The rows of the parent. */
  rows: Includable;
  /** The name under which the parent includes these rows. */
  as: string;
  /** The attribute of these rows that is the parent's id, with an index together with their own `id`. */
  by: string;
  /** The list of all rows of an id, without the version: `posts/1/comments`. Cursors of an answer are for this list. */
  list: (id: number) => string;
}

type Where<E extends ObjectLiteral> = (
  builder: SelectQueryBuilder<E>,
  caller: Caller | undefined,
  alias: string,
) => unknown;

export interface IncludableOptions<E> {
  /** Who may read these rows by the resource's own route: everyone, or the callers who have this role. */
  readers: 'everyone' | Role;
  /** The plain object that a caller gets of a row. */
  toDto: (row: E, caller: Caller | undefined) => object;
  /** What the resource's own route shows of a row, if that is more than what others include. Default: as `toDto` */
  toItem?: (row: E, caller: Caller | undefined) => object;
  /** Excludes rows that this caller may not read, from a query with this alias. Default: all rows may be read */
  where?: Where<E & ObjectLiteral>;
  /** What callers get of a row, if `toDto` makes something else of it than the DTO. Default: the DTO */
  shown?: DtoClass;
  /** Relations that the representation contains, each with the column to sort by. Default: none */
  relations?: Partial<Record<keyof E & string, string>>;
  /** The resource whose rows have many of these. Default: none */
  belongsTo?: BelongsTo;
}

/** Rows that other resources may include, by the rules of their own resource. */
export class Includable {
  readonly readers: 'everyone' | Role;
  readonly toDto: (row: IncludedRow, caller: Caller | undefined) => object;
  readonly toItem: (row: IncludedRow, caller: Caller | undefined) => object;
  readonly where?: Where<IncludedRow>;
  readonly relations: Record<string, string>;
  /** The class that documents what callers get. */
  readonly shown: DtoClass;
  readonly belongsTo?: BelongsTo;

  constructor(
    readonly entity: new () => IncludedRow,
    readonly dto: DtoClass,
    { readers, toDto, toItem = toDto, where, relations = {}, shown = dto, belongsTo }: IncludableOptions<IncludedRow>,
  ) {
    this.readers = readers;
    this.toDto = toDto;
    this.toItem = toItem;
    this.where = where;
    this.relations = relations as Record<string, string>;
    this.shown = shown;
    this.belongsTo = belongsTo;
  }

  mayBeReadBy(caller: Caller | undefined): boolean {
    return this.readers === 'everyone' || hasRole(caller, this.readers);
  }
}

/** What a resource may include: one row, or many. */
export interface Relation {
  /** The name in `include` and in the answer. */
  name: string;
  rows: Includable;
  /** The attribute of the including resource whose value the rows have, e.g. `user_id`. */
  key: string;
  /** The attribute of the included rows with this value: `id` of one row. */
  by: string;
  /** The list that has all of many rows. Undefined for one row. */
  list?: BelongsTo['list'];
}

const declared = new WeakMap<object, Relation[]>();
const includables = new WeakMap<object, Includable>();

/** What {@link includable} was told of an entity. Undefined for one that nobody includes. */
export const includableOf = (entity: object): Includable | undefined => includables.get(entity);

/**
 * Lets other resources include rows of an entity.
 * @param dto the DTO of its resource
 */
export function includable<E extends IncludedRow>(
  entity: new () => E,
  dto: DtoClass,
  options: IncludableOptions<E>,
): Includable {
  const rows = new Includable(entity, dto, options as unknown as IncludableOptions<IncludedRow>);
  includables.set(entity, rows);
  const { belongsTo } = options;
  if (belongsTo) {
    const { as: name, by, list } = belongsTo;
    declare(belongsTo.rows.dto, { name, rows, key: 'id', by, list });
  }
  return rows;
}

/**
 * Declares what `include` may name of a resource: `@Includes({ user: includedUser })` embeds the row whose id is the
 * attribute `user_id`, as `user` beside it. A function gives rows that are declared later, such as those of the same
 * resource.
 */
export const Includes =
  (all: Record<string, Includable | (() => Includable)>) =>
  (dto: DtoClass): void => {
    for (const [name, rows] of Object.entries(all)) declare(dto, new Reference(name, rows));
  };

/** The relation to the row whose id is an attribute. */
class Reference implements Relation {
  readonly key: string;
  readonly by = 'id';

  constructor(
    readonly name: string,
    private readonly source: Includable | (() => Includable),
  ) {
    this.key = `${name}_id`;
  }

  get rows(): Includable {
    return typeof this.source === 'function' ? this.source() : this.source;
  }
}

/** @throws {Error} for a name that the DTO has already, or an attribute that it hasn't */
function declare(dto: DtoClass, relation: Relation): void {
  const attributes = attributesOf(dto);
  const { name, key } = relation;
  if (!attributes.includes(key)) throw new Error(`${dto.name} includes ${name}, but has no attribute ${key}`);
  const others = includesOf(dto);
  if (attributes.includes(name) || others.some((other) => other.name === name)) {
    throw new Error(`${dto.name} includes ${name}, which is a name of something else already`);
  }
  declared.set(dto, [...(declared.get(dto) ?? []), relation]);
}

/** What `include` may name of a resource, and of the classes that its DTO extends. */
export function includesOf(dto: DtoClass): readonly Relation[] {
  const parent: unknown = Object.getPrototypeOf(dto);
  const own = declared.get(dto) ?? [];
  return typeof parent === 'function' && parent !== Function.prototype
    ? [...includesOf(parent as DtoClass), ...own]
    : own;
}

/**
 * What an `include` parameter names, in the order of the declarations.
 * @throws {ApiError} VALIDATION_ERROR when a name is unknown or repeated, or the text is too long
 */
export function parseIncludes(text: string, relations: readonly Relation[]): Relation[] {
  const names = namesIn(text);
  const chosen = relations.filter(({ name }) => names.includes(name));
  if (chosen.length === names.length) return chosen;
  const message = `must name some of ${relations.map(({ name }) => name).join(', ')}, each once`;
  throw validationError([{ field: 'include', rule: 'enum', message }]);
}

/** For `where` of an {@link includable}: rows with the caller's id as `user_id`; all rows for administrators. */
export function onlyOwn<E extends ObjectLiteral>(
  builder: SelectQueryBuilder<E>,
  caller: Caller | undefined,
  alias: string,
): void {
  if (!isAdmin(caller)) builder.andWhere(`${alias}.user_id = :only_owner`, { only_owner: caller?.id ?? null });
}
