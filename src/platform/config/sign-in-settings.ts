import { Whole } from './setting-rules';
import { UploadSettings } from './upload-settings';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** What can be set about how often strangers may try to sign in, register and take names; part of the {@link Settings}. */
export abstract class SignInSettings extends UploadSettings {
  /** Failed sign-ins for each account and address in a window, and the window in seconds. */
  @Whole(1)
  LOGIN_RATE_LIMIT = 5;

  @Whole(1, DAY)
  LOGIN_RATE_WINDOW = MINUTE;

  /** Failed sign-ins for each address in that window, whatever the accounts. */
  @Whole(1)
  LOGIN_ADDRESS_LIMIT = 30;

  /** Failed sign-ins for each account in ten minutes, from whatever addresses, before attempts have to wait. */
  @Whole(1)
  LOGIN_ACCOUNT_LIMIT = 50;

  /** How long each address then has to wait before an attempt, in seconds. */
  @Whole(1, MINUTE)
  LOGIN_ACCOUNT_DELAY = 30;

  /** Registrations for each address in a window, and the window in seconds. */
  @Whole(1)
  REGISTRATION_RATE_LIMIT = 30;

  @Whole(1, DAY)
  REGISTRATION_RATE_WINDOW = MINUTE;

  /** Changes of username and e-mail address for each user in a window, and the window in seconds. */
  @Whole(1)
  RENAME_RATE_LIMIT = 10;

  @Whole(1, DAY)
  RENAME_RATE_WINDOW = HOUR;
}
