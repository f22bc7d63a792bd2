import type { UnitOfWork } from './unit-of-work';

/** A request for a connection. */
export interface ConnectionRequest {
  /**
   * Takes a connection. @param over called when its transaction commits, the connection is given back, or none was
   * available
   */
  begin(over: () => void): void;
  refuse(error: Error): void;
}

/** Decides which units of work may hold connections of a pool at once, so that no caller takes all of them. */
export interface ConnectionScheduler {
  /**
   * Called for each requested connection. Begins at once or later, or refuses. A unit that already holds a connection
   * never waits.
   */
  add(asking: ConnectionRequest, unit: UnitOfWork): void;
  /** How many units of work wait. */
  readonly waiting: number;
}

/** The part of a pool's connections that the writes and lists of a neighbourhood together leave to all others. */
const OTHERS = 1 / 6;

/** Whether a neighbourhood that has this many permits may have another one. @param size the size of the pool */
export const leavesConnections = (permits: number, size: number): boolean => permits < size * (1 - OTHERS);
