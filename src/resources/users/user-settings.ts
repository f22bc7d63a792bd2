import {
  type Contradiction,
  SECONDS_PER_DAY,
  SECONDS_PER_HOUR,
  SECONDS_PER_MINUTE,
  TextSetting,
  WholeSetting,
} from '../../platform';

/** The settings of the first administrator, and of the limits for names. */
export class UserSettings {
  /** The first administrator, created at the start if there is none. Either all three are set or none. */
  @TextSetting()
  ADMIN_USERNAME?: string;

  @TextSetting()
  ADMIN_EMAIL?: string;

  @TextSetting()
  ADMIN_PASSWORD?: string;

  /** The number of registrations per address in a window of REGISTRATION_RATE_WINDOW seconds. */
  @WholeSetting(1)
  REGISTRATION_RATE_LIMIT = 30;

  @WholeSetting(1, SECONDS_PER_DAY)
  REGISTRATION_RATE_WINDOW = SECONDS_PER_MINUTE;

  /** The number of changes of username and e-mail address per user in a window of RENAME_RATE_WINDOW seconds. */
  @WholeSetting(1)
  RENAME_RATE_LIMIT = 10;

  @WholeSetting(1, SECONDS_PER_DAY)
  RENAME_RATE_WINDOW = SECONDS_PER_HOUR;
}

export function userContradictions(own: UserSettings): Contradiction[] {
  const given = [own.ADMIN_USERNAME, own.ADMIN_EMAIL, own.ADMIN_PASSWORD].filter(Boolean).length;
  return [[given > 0 && given < 3, 'ADMIN_USERNAME, ADMIN_EMAIL and ADMIN_PASSWORD go together']];
}
