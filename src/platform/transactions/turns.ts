import type { UnitOfWork } from './unit-of-work';

/** Says which units of work may hold connections of a pool at once, so that none of those who ask for them takes all. */
export interface Turns {
  /**
   * Asked for each connection; a unit that holds one waits for no other.
   * @param hold takes a connection, and resolves when it was given back
   * @throws when the unit needn't wait any longer, or too many do
   */
  run(hold: () => Promise<void>, unit: UnitOfWork): Promise<void>;
}
