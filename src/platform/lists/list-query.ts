import { applyDecorators, type Type } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import type { UnitOfWork } from '../transactions/unit-of-work';
import { pureAttribute } from '../input/attribute';
import { OneOf, Text } from '../input/attributes';
import { FieldList, SameAs, WholeParameter } from '../input/query-parameters';
import type { Version } from '../http/api-version';
import type { DtoClass } from '../input/fields';
import { Largest } from '../answers/largest';
import { CURSOR_PATTERN, type Cursors, MAX_CURSOR } from './cursor';

const DEFAULT_SIZE = 20;
export const MAX_SIZE = 100;
const MAX_PAGE = 2 ** 31 - 1;
const MAX_SEARCH = 100;

const SIZE = 'Items on a page. One that would have more than 8 MiB is 400; with cursors it holds fewer items.';

/** How a version of the API pages: a parameter of another version is unknown. */
export const PAGE_PARAMETERS: Record<Version, string> = { 1: 'page', 2: 'cursor' };

/** Where the cursors of a request are in its query: no caller can write this name. */
export const CURSORS = Symbol('cursors');
/** Where it keeps what the request does in the database, so that a list ends when nobody waits for it any more. */
export const WORK = Symbol('work');
/** Where it keeps how its caller is looked up again, which a list does that has waited for its turn. */
export const CONFIRM = Symbol('confirm');
/** That a class is the query of a collection. */
const IS_LIST_QUERY = 'resource-api:list-query';
/** Where a query keeps how large the items are that it asks for. */
export const LARGEST = Symbol('largest');
/** Where it keeps the names that it may be sorted by, of which each has to be a column. */
export const SORTABLE = Symbol('sortable');

export interface ListOptions {
  /** Attributes that `sort` may name; each is a column with an index. `id` is always one. */
  sortable: readonly string[];
  /** The values of `status`, where the resource has any. */
  statuses?: Record<string, string>;
}

/** What every collection can be asked for, checked. */
export interface ListQuery {
  /** Zero-based; in version 1. */
  page?: number;
  /** In version 2; opened by the input guard. */
  cursor?: string;
  size?: number;
  limit?: number;
  sort?: string;
  sortBy?: string;
  order?: string;
  search?: string;
  status?: string;
  /** In the resource's own order; undefined means all of them. */
  fields?: string[];
  /** In version 2: where the list begins, and how it goes on. */
  [CURSORS]?: Cursors;
  [WORK]?: UnitOfWork;
  [CONFIRM]?: () => Promise<void>;
  [LARGEST]?: Largest;
  [SORTABLE]?: readonly string[];
}

/** Items on a page, under either name. */
export const pageSizeOf = ({ size, limit }: ListQuery): number => size ?? limit ?? DEFAULT_SIZE;

/** What to sort by, under either name. */
export const sortOf = ({ sort, sortBy }: ListQuery): string => sort ?? sortBy ?? 'id';

/** How many bytes one item of the answer can take at most, with the `fields` asked for. */
export const largestItem = ({ [LARGEST]: largest, fields }: ListQuery): number =>
  largest?.reducedTo(fields) ?? Infinity;

export const directionOf = ({ order }: ListQuery): 'ASC' | 'DESC' => (order === 'desc' ? 'DESC' : 'ASC');

/**
 * The query parameters of a collection of `item`, as a class to extend: like PickType and its kin it exists because
 * validation and documentation need a class of their own for each resource.
 */
export function ListQueryOf(item: DtoClass, { sortable, statuses }: ListOptions): Type<ListQuery> {
  const example = sortable.includes('created_at') ? 'created_at' : sortable[0];
  class CollectionQuery implements ListQuery {
    [LARGEST] = Largest.of(item);
    [SORTABLE] = sortable;

    @WholeParameter({ min: 0, max: MAX_PAGE, default: 0, example: 0, description: 'Zero-based number of the page.' })
    page?: number;

    @Text({ max: MAX_CURSOR, optional: true })
    @ApiProperty({
      pattern: CURSOR_PATTERN,
      description: 'Leads to a page: `next` or `previous` of another page of the same list.',
    })
    cursor?: string;

    @WholeParameter({ min: 1, max: MAX_SIZE, default: DEFAULT_SIZE, example: 5, description: SIZE })
    size?: number;

    @WholeParameter({ min: 1, max: MAX_SIZE, example: 5, description: 'An alias of `size`.' })
    @SameAs('size')
    limit?: number;

    @SortKey(sortable)
    @ApiProperty({ description: 'The attribute to sort by. The id breaks ties.', default: 'id', example })
    sort?: string;

    @SortKey(sortable)
    @ApiProperty({ description: 'An alias of `sort`.', example })
    @SameAs('sort')
    sortBy?: string;

    @OneOf(['asc', 'desc'], { optional: true })
    @ApiProperty({ description: 'The direction to sort in.', default: 'asc', example: 'desc' })
    order?: string;

    @Status(statuses)
    status?: string;

    @Text({ min: 1, max: MAX_SEARCH, optional: true })
    @ApiProperty({
      description: 'Only items that contain this text in one of their searchable attributes, in any case.',
      example: 'a',
    })
    search?: string;

    @FieldList(item)
    fields?: string[];
  }
  Reflect.defineMetadata(IS_LIST_QUERY, true, CollectionQuery);
  return CollectionQuery;
}

/** One attribute: whoever knows of `sort=a,-b` elsewhere is told how it is here. */
function SortKey(sortable: readonly string[]): PropertyDecorator {
  const message = `must be one of ${sortable.join(', ')}; it is one attribute, and \`order\` its direction`;
  const holds = (value: unknown) => sortable.includes(value as string);
  return pureAttribute({ name: 'enum', message, holds }, [], { type: String, enum: [...sortable] }, { optional: true });
}

/** Whether a type of a parameter is the query of a collection, or made of one. */
export const isListQuery = (type: unknown): boolean =>
  typeof type === 'function' && Reflect.hasMetadata(IS_LIST_QUERY, type);

/** No parameter at all where the resource has no statuses. */
function Status(statuses: Record<string, string> | undefined): PropertyDecorator {
  if (!statuses) return () => undefined;
  const [example] = Object.values(statuses);
  return applyDecorators(
    OneOf(statuses, { optional: true }),
    ApiProperty({ description: 'Only items with this status.', example }),
  );
}
