import { type Contradiction, TextSetting, WholeSetting } from '../../platform';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** What can be set about the first administrator, and about how often strangers may take names. */
export class UserSettings {
  /** The first administrator, made at the start when there is none: all three or none. */
  @TextSetting()
  ADMIN_USERNAME?: string;

  @TextSetting()
  ADMIN_EMAIL?: string;

  @TextSetting()
  ADMIN_PASSWORD?: string;

  /** Registrations for each address in a window, and the window in seconds. */
  @WholeSetting(1)
  REGISTRATION_RATE_LIMIT = 30;

  @WholeSetting(1, DAY)
  REGISTRATION_RATE_WINDOW = MINUTE;

  /** Changes of username and e-mail address for each user in a window, and the window in seconds. */
  @WholeSetting(1)
  RENAME_RATE_LIMIT = 10;

  @WholeSetting(1, DAY)
  RENAME_RATE_WINDOW = HOUR;
}

export function userContradictions(own: UserSettings): Contradiction[] {
  const given = [own.ADMIN_USERNAME, own.ADMIN_EMAIL, own.ADMIN_PASSWORD].filter(Boolean).length;
  return [[given > 0 && given < 3, 'ADMIN_USERNAME, ADMIN_EMAIL and ADMIN_PASSWORD go together']];
}
