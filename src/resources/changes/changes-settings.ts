import { SECONDS_PER_DAY, SECONDS_PER_HOUR, WholeSetting } from '../../platform';

/** The settings of the feed of changes. */
export class ChangesSettings {
  /** For how long a mark of the feed is good, in seconds. AUDIT_RETENTION must be longer. */
  @WholeSetting(SECONDS_PER_HOUR, 365 * SECONDS_PER_DAY)
  CHANGES_RETENTION = 7 * SECONDS_PER_DAY;

  /** The requests that wait for changes at once in a process. */
  @WholeSetting(0)
  CHANGES_LISTENERS = 10_000;

  /** Those of one user. */
  @WholeSetting(1)
  CHANGES_LISTENERS_PER_USER = 20;

  /** Those of one network. */
  @WholeSetting(1)
  CHANGES_LISTENERS_PER_NETWORK = 1_000;
}
