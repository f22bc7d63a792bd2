import { SECONDS_PER_DAY, SECONDS_PER_MINUTE, WholeSetting } from '../../platform';

/** The settings of /public. */
export class PublicSettings {
  /** The number of requests to /public per address in a window of PUBLIC_RATE_WINDOW seconds. */
  @WholeSetting(1)
  PUBLIC_RATE_LIMIT = 60;

  @WholeSetting(1, SECONDS_PER_DAY)
  PUBLIC_RATE_WINDOW = SECONDS_PER_MINUTE;
}
