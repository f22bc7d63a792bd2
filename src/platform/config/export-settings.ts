import { WholeSetting } from './setting-rules';
import { SearchSettings } from './search-settings';
import { days, minutes } from '../units';

/** The settings of whole lists as CSV or NDJSON, a part of {@link Settings}. */
export abstract class ExportSettings extends SearchSettings {
  /** The connections of DATABASE_POOL_SIZE that exports may hold at once. Two are always left for other statements. */
  @WholeSetting(1, 1000)
  EXPORT_CONNECTIONS = 3;

  /** How long an export may hold its connection and its snapshot, in milliseconds. */
  @WholeSetting(1, days(1))
  EXPORT_TIMEOUT = minutes(15);
}
