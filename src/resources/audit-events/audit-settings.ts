import { SECONDS_PER_DAY, WholeSetting } from '../../platform';

/** The settings of the audit. */
export class AuditSettings {
  /** How long audit events are kept, in seconds. The database keeps those of the last day in any case. */
  @WholeSetting(SECONDS_PER_DAY, 100 * 365 * SECONDS_PER_DAY)
  AUDIT_RETENTION = 90 * SECONDS_PER_DAY;
}
