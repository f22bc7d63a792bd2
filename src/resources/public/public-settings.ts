import { WholeSetting } from '../../platform';

const MINUTE = 60;
const DAY = 24 * 60 * MINUTE;

/** What can be set about /public. */
export class PublicSettings {
  /** Requests to /public for each address in a window, and the window in seconds. */
  @WholeSetting(1)
  PUBLIC_RATE_LIMIT = 60;

  @WholeSetting(1, DAY)
  PUBLIC_RATE_WINDOW = MINUTE;
}
