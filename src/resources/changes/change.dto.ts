import { ApiProperty } from '@nestjs/swagger';
import {
  EnumParameter,
  Flag,
  Id,
  JsonObject,
  ListOf,
  mebibytes,
  OneOf,
  Text,
  Timestamp,
  Whole,
  WholeParameter,
} from '../../platform';
import { MAX_MARK } from './mark';

export const CHANGES = ['CREATED', 'UPDATED', 'DELETED'] as const;
const TYPE = /[a-z][a-z0-9-]*/;
/** The longest time to wait for a change, in seconds. */
const MAX_WAIT = 30;
/** The greatest number of changes of one answer. */
export const MAX_CHANGES = 100;

/** One change of a resource. */
export class ChangeDto {
  /** The type of the resource: its name in the paths. @example products */
  @Text({ min: 1, max: 63, pattern: TYPE })
  type: string;

  /** The id of the resource. @example 1 */
  @Id()
  id: number;

  /** What happened to it, as this caller sees it: a post that becomes a draft is deleted for others. @example UPDATED */
  @OneOf(CHANGES)
  change: (typeof CHANGES)[number];

  /** The version after the change; the last one of a deleted resource. @example 2 */
  @Whole({ min: 1 })
  version: number;

  /** The moment of the change. @example 2026-01-31T12:00:00.000Z */
  @Timestamp()
  at: Date;

  /**
   * With `include=resource`: the resource as its own route shows it now, which may be newer than this change. Null if it is
   * deleted, or hidden from this caller.
   */
  @ApiProperty({ example: { id: 1, name: 'Espresso cup' } })
  @JsonObject({ maxBytes: mebibytes(1), nullable: true, optional: true })
  resource?: object | null;
}

/** A part of the feed. */
export class ChangesDto {
  /** The changes, in the order in which they were made. */
  @ListOf(() => ChangeDto, { min: 0, max: MAX_CHANGES })
  changes: ChangeDto[];

  /** The mark to come back with. It is never null. @example "2n9c-mc4t5q8w" */
  @Text({ min: 1, max: MAX_MARK })
  next: string;

  /** Whether there are more changes already. Otherwise come back later. @example false */
  @Flag()
  more: boolean;
}

/** What the feed can be asked for. */
export class ChangesQuery {
  /**
   * Only changes of these types: names of resources as in their paths, separated by commas. Default: all types that the
   * caller may read.
   * @example products,orders
   */
  @Text({ min: 1, max: 1_000, optional: true, pattern: /[a-z][a-z0-9-]*(,[a-z][a-z0-9-]*)*/ })
  types?: string;

  /**
   * The `next` of an earlier answer, or `now` for a mark after all changes so far. Default: the oldest change that is kept.
   * @example now
   */
  @Text({ min: 1, max: MAX_MARK, optional: true, pattern: /now|[0-9a-z]{1,11}-[0-9a-z]{1,9}/ })
  cursor?: string;

  @WholeParameter({
    min: 1,
    max: MAX_CHANGES,
    default: MAX_CHANGES,
    example: 100,
    description: 'The greatest number of changes.',
  })
  size: number = MAX_CHANGES;

  @WholeParameter({
    min: 0,
    max: MAX_WAIT,
    default: 0,
    example: 0,
    description:
      'For how many seconds to wait if there is nothing yet: the answer comes with the first change, or without one when ' +
      'the time is up.',
  })
  wait: number = 0;

  @EnumParameter(['resource'], 'Adds the resource to each change.')
  include?: 'resource';
}
