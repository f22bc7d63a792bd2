import { WholeSetting } from '../../platform';

const MINUTE = 60;
const DAY = 24 * 60 * MINUTE;

/** What can be set about how often strangers may try to sign in. */
export class SignInSettings {
  /** Failed sign-ins for each account and address in a window, and the window in seconds. */
  @WholeSetting(1)
  LOGIN_RATE_LIMIT = 5;

  @WholeSetting(1, DAY)
  LOGIN_RATE_WINDOW = MINUTE;

  /** Failed sign-ins for each address in that window, whatever the accounts. */
  @WholeSetting(1)
  LOGIN_ADDRESS_LIMIT = 30;

  /** Failed sign-ins for each account in ten minutes, from whatever addresses, before attempts have to wait. */
  @WholeSetting(1)
  LOGIN_ACCOUNT_LIMIT = 50;

  /** How long each address then has to wait before an attempt, in seconds. */
  @WholeSetting(1, MINUTE)
  LOGIN_ACCOUNT_DELAY = 30;
}
