import type { UnitOfWork } from './unit-of-work';

/** What asks for a connection. */
export interface Asking {
  /** Takes a connection. @param over to be told when its transaction commits, and when it was given back or none was to be had */
  begin(over: () => void): void;
  refuse(error: Error): void;
}

/** Says which units of work may hold connections of a pool at once, so that none of those who ask for them takes all. */
export interface Turns {
  /** Asked for each connection: begins at once or later, or refuses. A unit that holds one waits for no other. */
  add(asking: Asking, unit: UnitOfWork): void;
}
