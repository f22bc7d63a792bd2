import type { ObjectLiteral } from 'typeorm';
import type { Page } from '../answers/page';
import type { Direction, Range } from './ranges';
import type { HeavyRows, PageRoom } from './row-sizes';

/** Ids that rows have in a column. */
export interface Keys {
  column: string;
  ids: readonly number[];
}

/** The part of the matching rows to read. */
export interface Slice {
  direction: Direction;
  limit: number;
  /** The number of rows to skip. Default: 0 */
  offset?: number;
  /** Rows that don't fit into it are left out. Without it, all rows must fit. */
  room?: PageRoom;
  /** Ranges of the list's rows, in the order of the list. Default: all rows */
  ranges?: Range[];
  /** Finds the rows of each of these ids in the order of the list, and then the slice among them. Default: all rows together */
  keys?: Keys;
  /** Whether rows whose texts are large are only found, see {@link HeavyRows}. Default: false */
  weighs?: boolean;
  /** Reads these alone, and only if all of them match as they did. They need neither ranges nor an offset. */
  only?: HeavyRows;
  /** Whether all rows that match are found and counted first, if they are few. Default: false */
  isOfFew?: boolean;
  /** Whether it is a step of a whole list, which need not fit into an answer. Default: false */
  isStep?: boolean;
}

/** Rows; or what reads them, which has to wait for its turn, and so must not be called by whoever keeps others waiting. */
export type Rows<E> = E[] | (() => Promise<E[]>);

/** What was found of a page, and how the page is made of its rows. */
export interface FoundPage<E extends object> {
  rows: Rows<E>;
  page: (rows: E[]) => Page<E>;
}

/** Rows, and the number of all rows of the list. */
export interface Counted<R> {
  rows: R;
  total: number;
}

/** The rows of a list and their number. */
export interface List<E extends ObjectLiteral> {
  /** Reads in one statement, so that all returned rows exist and fulfil all conditions at the same time. */
  read: (slice: Slice) => Promise<Rows<E>>;
  total: () => Promise<number>;
  /** Reads a deep slice of all rows from the nearest place that is known, and counts them. Undefined if it can't be read so. */
  placed: (slice: Slice & { offset: number }) => Promise<Counted<E[]> | undefined>;
  /**
   * For a list that is searched: reads a slice and counts the rows in one statement, which looks for them once. Undefined if they
   * are many: then both is cheaper apart.
   */
  few: (slice: Slice) => Promise<Counted<Rows<E>> | undefined>;
  /** True if the list is searched. */
  searches: boolean;
  /** True if the total is known without counting rows. */
  counted: boolean;
}
