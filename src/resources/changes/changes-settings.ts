import { SECONDS_PER_DAY, SECONDS_PER_HOUR, WholeSetting } from '../../platform';

/** The settings of the feed of changes. */
export class ChangesSettings {
  /** For how long a mark of the feed is good, in seconds. AUDIT_RETENTION must be longer. */
  @WholeSetting(SECONDS_PER_HOUR, 365 * SECONDS_PER_DAY)
  CHANGES_RETENTION = 7 * SECONDS_PER_DAY;
}
