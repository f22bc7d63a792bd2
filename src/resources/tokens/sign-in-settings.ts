import { SECONDS_PER_DAY, SECONDS_PER_MINUTE, WholeSetting } from '../../platform';

/** The settings that limit sign-ins. */
export class SignInSettings {
  /** The number of failed sign-ins per account and address in a window of LOGIN_RATE_WINDOW seconds. */
  @WholeSetting(1)
  LOGIN_RATE_LIMIT = 5;

  @WholeSetting(1, SECONDS_PER_DAY)
  LOGIN_RATE_WINDOW = SECONDS_PER_MINUTE;

  /** The number of failed sign-ins per address in the window, for all accounts. */
  @WholeSetting(1)
  LOGIN_ADDRESS_LIMIT = 30;

  /** The number of failed sign-ins per account in ten minutes, from all addresses, before attempts must wait. */
  @WholeSetting(1)
  LOGIN_ACCOUNT_LIMIT = 50;

  /** How long each address must then wait before an attempt, in seconds. */
  @WholeSetting(1, SECONDS_PER_MINUTE)
  LOGIN_ACCOUNT_DELAY = 30;
}
