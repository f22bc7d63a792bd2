import { WholeSetting } from './setting-rules';
import { days, seconds } from '../units';

/** The settings of searches, a part of {@link Settings}. */
export abstract class SearchSettings {
  /** The connections of DATABASE_POOL_SIZE that searches may use. One is always left for other statements. */
  @WholeSetting(1, 1000)
  SEARCH_CONNECTIONS = 3;

  /** The time limit of a search in milliseconds, from the moment when it has a connection. */
  @WholeSetting(1, days(1))
  SEARCH_TIMEOUT = seconds(5);
}
