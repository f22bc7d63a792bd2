import type { ObjectLiteral } from 'typeorm';
import type { Room } from './row-sizes';

export type Direction = 'ASC' | 'DESC';

/** What rows must fulfil, as TypeORM's query builder takes it. */
export type Condition = [text: string, parameters?: ObjectLiteral];

/** Which of the matching rows to read. */
export interface Slice {
  direction: Direction;
  limit: number;
  /** Rows to leave out first. Default: 0 */
  offset?: number;
  /** What those that don't fit are left out for. Without one all are wanted, or none. */
  room?: Room;
  /** Ranges of the list's rows, one after the other in its order. Default: all of them */
  ranges?: Condition[];
}

/** Where the rows of a list come from, and how many there are. */
export interface List<E extends ObjectLiteral> {
  /** Reads by one statement, so that what it returns was there at one moment, and fulfilled all conditions then. */
  read: (slice: Slice) => Promise<E[]>;
  total: () => Promise<number>;
  /** Whether it is searched. */
  searches: boolean;
  /** Whether the total is known without looking at the rows. */
  counted: boolean;
}
