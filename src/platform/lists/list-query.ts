import type { Type } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import type { UnitOfWork } from '../transactions/unit-of-work';
import { OneOf } from '../input/attributes';
import { FieldList, IdsParameter, IncludeList, SameAs, WholeParameter } from '../input/query-parameters';
import { BooleanParameter } from '../input/value-parameters';
import type { Export } from '../exports/export';
import type { Version } from '../http/api-version';
import { attributesOf, type DtoClass } from '../input/fields';
import { LargestSize } from '../answers/largest-size';
import { searchableOf } from '../rows/searchable-by';
import { deletionOf, hasColumn, type SortableEntity } from '../rows/sortable-by';
import { declareFilters, namesOf } from './filters';
import type { Cursors } from './cursor';
import {
  CHANGED,
  CursorParameter,
  DeletedParameter,
  SearchParameter,
  shownOf,
  SinceParameter,
  SortKey,
  StatusParameter,
} from './list-parameters';

export const DEFAULT_SIZE = 20;
export const MAX_SIZE = 100;
const MAX_PAGE = 2 ** 31 - 1;

const SIZE =
  'Items on a page. A page that would have more than 8 MiB is refused (400); with cursors it has fewer items instead.';

/** The parameters that only one version of the API has. In others they are unknown. */
export const PARAMETERS_OF: Record<Version, readonly string[]> = { 1: ['page'], 2: ['cursor', 'total'] };

/** The key of the request's cursors in its query. It is a symbol, so no caller can set it. */
export const CURSORS = Symbol('cursors');
/** The key of the request's unit of work, so that a list ends with its request. */
export const WORK = Symbol('work');
/** The key of a function that looks the caller up again, after a list has waited for its turn. */
export const CONFIRM = Symbol('confirm');
/** The key of what the caller asks for, where that is the whole list instead of a page. */
export const EXPORT = Symbol('export');
/** The key of attributes that are needed besides the requested `fields`: the included rows are found by their values. */
export const KEYS = Symbol('keys');
/** Metadata of the class of a list's query: the DTO of the items. */
const LIST_OF = 'resource-api:list-of';
/** The key of the size of the requested items. */
export const LARGEST = Symbol('largest');
/** The key of the sortable names, each of which must be a column. */
export const SORTABLE = Symbol('sortable');
/** The key of the filterable names, each of which must be a column. */
export const FILTERABLE = Symbol('filterable');
/** The key of whether deleted rows can be listed, which a column must tell from the others. */
export const KEEPS_DELETED = Symbol('keeps deleted');

export interface ListOptions {
  /**
   * Attributes that `sort` may name: an entity, for those that its `@SortableBy()` names and the DTO shows; or their names, each
   * of which is a column with an index. `id` is always one. Of an entity the document also tells where `search` looks.
   */
  sortable: SortableEntity | readonly string[];
  /** The values of `status`, where the resource has any. */
  statuses?: Record<string, string>;
  /**
   * Attributes by which the list is filtered: `user_id=1` for ids, enums, booleans and UUIDs, `amount[gte]=10&amount[lt]=20` for
   * numbers, days and moments, and `note[null]=true` for all that may be null. Each is a column with an index. Default: none
   */
  filterable?: readonly string[];
  /**
   * Whether administrators can ask for deleted rows by `deleted=only`, as the entity has a `@DeleteDateColumn()`. Default: whether
   * the entity `sortable` has one; false for names
   */
  deleted?: boolean;
}

/** The validated query of a collection. */
export interface ListQuery {
  /** Zero-based; in version 1. */
  page?: number;
  /** In version 2. The input guard opens it. */
  cursor?: string;
  /** In version 2: whether all items are counted. Version 1 counts them in any case. */
  total?: boolean;
  size?: number;
  limit?: number;
  sort?: string;
  sortBy?: string;
  order?: string;
  search?: string;
  status?: string;
  /** The ids of the rows to choose from. */
  ids?: readonly number[];
  /** Deleted rows instead of the others; see deleted-rows.ts. A list may have a parameter of its own with this name. */
  deleted?: unknown;
  /** In the order of the resource. Undefined means all attributes. */
  fields?: string[];
  /** The names of the related rows to embed. */
  include?: string[];
  [KEYS]?: string[];
  /** In version 2: the start of the page, and the cursors of its neighbours. */
  [CURSORS]?: Cursors;
  [WORK]?: UnitOfWork;
  [EXPORT]?: Export;
  [CONFIRM]?: () => Promise<void>;
  [LARGEST]?: LargestSize;
  [SORTABLE]?: readonly string[];
  [FILTERABLE]?: readonly string[];
  [KEEPS_DELETED]?: boolean;
}

/** The page size, by either parameter name. */
export const pageSizeOf = ({ size, limit }: ListQuery): number => size ?? limit ?? DEFAULT_SIZE;

/** The sort attribute, by either parameter name. */
export const sortOf = ({ sort, sortBy }: ListQuery): string => sort ?? sortBy ?? 'id';

/** The greatest size of one item in bytes, with the requested `fields`. */
export const largestItem = ({ [LARGEST]: largest, fields }: ListQuery): number =>
  largest?.reducedTo(fields) ?? Infinity;

export const directionOf = ({ order }: ListQuery): 'ASC' | 'DESC' => (order === 'desc' ? 'DESC' : 'ASC');

/**
 * The base class for the query of a collection of `item`. Each resource needs a class of its own for validation and
 * documentation, as with PickType.
 */
export function ListQueryOf(item: DtoClass, options: ListOptions): Type<ListQuery> {
  const { sortable: by, filterable = [] } = options;
  const statuses = options.statuses ?? (filterable.includes('status') ? namesOf(item, 'status') : undefined);
  const entity = typeof by === 'function' ? by : undefined;
  const sortable = typeof by === 'function' ? shownOf(by, item) : by;
  const example = sortable.includes('created_at') ? 'created_at' : sortable[0];
  const keepsDeleted = options.deleted ?? (entity !== undefined && deletionOf(entity) !== undefined);
  const tellsChanges = attributesOf(item).includes(CHANGED) && (!entity || hasColumn(entity, CHANGED));
  class CollectionQuery implements ListQuery {
    [LARGEST] = LargestSize.of(item);
    [SORTABLE] = sortable;
    [FILTERABLE] = tellsChanges ? [...filterable, CHANGED] : filterable;
    [KEEPS_DELETED] = keepsDeleted;

    @WholeParameter({ min: 0, max: MAX_PAGE, default: 0, example: 0, description: 'Zero-based number of the page.' })
    page?: number;

    @CursorParameter()
    cursor?: string;

    @BooleanParameter('True adds the number of all items to `pagination`. Counting them may cost more than the page.')
    total?: boolean;

    @WholeParameter({ min: 1, max: MAX_SIZE, default: DEFAULT_SIZE, example: 5, description: SIZE })
    size?: number;

    @WholeParameter({ min: 1, max: MAX_SIZE, example: 5, deprecated: true, description: 'An alias of `size`.' })
    @SameAs('size')
    limit?: number;

    @SortKey(sortable)
    @ApiProperty({ description: 'The attribute to sort by. The id breaks ties.', default: 'id', example })
    sort?: string;

    @SortKey(sortable)
    @ApiProperty({ description: 'An alias of `sort`.', deprecated: true, example })
    @SameAs('sort')
    sortBy?: string;

    @OneOf(['asc', 'desc'], { optional: true })
    @ApiProperty({ description: 'The direction to sort in.', default: 'asc', example: 'desc' })
    order?: string;

    @StatusParameter(statuses)
    status?: string;

    @IdsParameter('Only the items with these ids. An id that no item of the list has is passed over.')
    ids?: number[];

    @SinceParameter(tellsChanges)
    updated_since?: string;

    @DeletedParameter(keepsDeleted)
    deleted?: unknown;

    @SearchParameter(entity ? searchableOf(entity) : [])
    search?: string;

    @FieldList(item)
    fields?: string[];

    @IncludeList()
    include?: string[];
  }
  const others = filterable.filter((name) => name !== 'status' || !statuses);
  declareFilters(CollectionQuery, item, others);
  Reflect.defineMetadata(LIST_OF, item, CollectionQuery);
  return CollectionQuery;
}

/** The DTO of the items, if the type of a parameter is the query of a collection or derived from one. */
export const itemOfList = (type: unknown): DtoClass | undefined =>
  typeof type === 'function' ? (Reflect.getMetadata(LIST_OF, type) as DtoClass | undefined) : undefined;
