import { applyDecorators, type Type } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { isArray, registerDecorator, ValidateIf, type ValidationArguments } from 'class-validator';
import { OneOf, Text } from '../requests/attributes';
import { attributesOf, type DtoClass } from '../responses/fields';

const DEFAULT_SIZE = 20;
const MAX_SIZE = 100;
const MAX_PAGE = 2 ** 31 - 1;
const MAX_SEARCH = 100;
const DECIMAL = /^(0|[1-9]\d{0,9})$/;

export interface ListOptions {
  /** Attributes that `sort` may name; each is a column with an index. `id` is always one. */
  sortable: readonly string[];
  /** The values of `status`, where the resource has any. */
  statuses?: Record<string, string>;
}

/** What every collection can be asked for, checked. */
export interface ListQuery {
  readonly page: number;
  readonly pageSize: number;
  readonly sortAttribute: string;
  readonly direction: 'ASC' | 'DESC';
  readonly search?: string;
  readonly status?: string;
  /** In the resource's own order; undefined means all of them. */
  readonly fields?: string[];
}

/**
 * The query parameters of a collection of `item`, as a class to extend: like PickType and its kin it exists because
 * validation and documentation need a class of their own for each resource.
 */
export function ListQueryOf(item: DtoClass, { sortable, statuses }: ListOptions): Type<ListQuery> {
  class CollectionQuery implements ListQuery {
    @WholeParameter({ min: 0, max: MAX_PAGE, default: 0, description: 'Zero-based number of the page.' })
    page = 0;

    @WholeParameter({ min: 1, max: MAX_SIZE, default: DEFAULT_SIZE, description: 'Items on a page.' })
    size?: number;

    @WholeParameter({ min: 1, max: MAX_SIZE, description: 'Another name for `size`.' })
    @SameAs('size')
    limit?: number;

    @OneOf(sortable, { optional: true })
    @ApiProperty({ description: 'The attribute to sort by; equal ones are sorted by id.', default: 'id' })
    sort?: string;

    @OneOf(sortable, { optional: true })
    @ApiProperty({ description: 'Another name for `sort`.' })
    @SameAs('sort')
    sortBy?: string;

    @OneOf(['asc', 'desc'], { optional: true })
    @ApiProperty({ description: 'The direction to sort in.', default: 'asc' })
    order?: string;

    @Text({ min: 1, max: MAX_SEARCH, optional: true })
    @ApiProperty({ description: 'Finds this text, in any case, in the text attributes of the resource.' })
    search?: string;

    @FieldList(item)
    fields?: string[];

    status?: string;

    get pageSize(): number {
      return this.size ?? this.limit ?? DEFAULT_SIZE;
    }

    get sortAttribute(): string {
      return this.sort ?? this.sortBy ?? 'id';
    }

    get direction(): 'ASC' | 'DESC' {
      return this.order === 'desc' ? 'DESC' : 'ASC';
    }
  }
  if (statuses) {
    OneOf(statuses, { optional: true })(CollectionQuery.prototype, 'status');
    ApiProperty({ description: 'Only items with this status.' })(CollectionQuery.prototype, 'status');
  }
  return CollectionQuery;
}

function WholeParameter({ min, max, ...documentation }: { min: number; max: number } & ApiPropertyOptions) {
  const holds = (value: unknown) => typeof value === 'number' && value >= min && value <= max;
  return applyDecorators(
    ApiProperty({
      ...documentation,
      type: 'integer',
      minimum: min,
      maximum: max,
      required: false,
    }),
    Transform(({ value }: { value: unknown }) => (DECIMAL.test(String(value)) ? Number(value) : value)),
    ValidateIf((_query, value) => value !== undefined),
    constraint('range', `must be an integer from ${min} to ${max}`, holds),
  );
}

function SameAs(twin: string): PropertyDecorator {
  return constraint('twin', `must not differ from ${twin}, which is the same parameter`, (value, query) => {
    const other = (query as Record<string, unknown>)[twin];
    return value === undefined || other === undefined || value === other;
  });
}

function FieldList(item: DtoClass): PropertyDecorator {
  // Asked for at each use: a class that is still being defined has no attributes yet.
  const attributes = () => attributesOf(item);
  return applyDecorators(
    ApiProperty({
      description: 'Comma-separated names of the attributes to return; all when left out.',
      type: String,
      required: false,
    }),
    ValidateIf((_query, value) => value !== undefined),
    Transform(({ value }: { value: unknown }) =>
      typeof value === 'string' ? value.split(',').map((name) => name.trim()) : value,
    ),
    constraint(
      'enum',
      () => `must name some of ${attributes().join(', ')}`,
      (names) => isArray(names) && names.every((name) => attributes().includes(name as string)),
    ),
  );
}

function constraint(
  name: string,
  message: string | (() => string),
  holds: (value: unknown, query: object) => boolean,
): PropertyDecorator {
  return (target, propertyName) =>
    registerDecorator({
      name,
      target: target.constructor,
      propertyName: propertyName as string,
      validator: {
        validate: (value: unknown, { object }: ValidationArguments) => holds(value, object),
        defaultMessage: () => (typeof message === 'string' ? message : message()),
      },
    });
}
