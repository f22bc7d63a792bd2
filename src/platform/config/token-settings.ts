import { IsOptional, IsString, IsUrl } from 'class-validator';
import { SearchSettings } from './search-settings';
import { TextSetting, WholeSetting, YesOrNoSetting } from './setting-rules';

const MINUTE = 60;
const DAY = 24 * 60 * MINUTE;

/** What can be set about tokens, sessions and an identity provider; part of the {@link Settings}. */
export abstract class TokenSettings extends SearchSettings {
  /** The claims `iss` and `aud` that are made and demanded. */
  @IsString()
  JWT_ISSUER = 'resource-api';

  @IsString()
  JWT_AUDIENCE = 'resource-api';

  /** Seconds. */
  @WholeSetting(1, DAY)
  ACCESS_TOKEN_TTL = 15 * MINUTE;

  /** Seconds. */
  @WholeSetting(1, 3650 * DAY)
  REFRESH_TOKEN_TTL = 30 * DAY;

  /** Seconds from the sign-in to the end of its session, however often it is refreshed. */
  @WholeSetting(1, 3650 * DAY)
  SESSION_MAX_AGE = 90 * DAY;

  /** A second, external issuer of access tokens. */
  @IsOptional()
  @IsUrl({ require_tld: false, protocols: ['http', 'https'], require_protocol: true })
  OIDC_ISSUER?: string;

  /** The audience demanded of the external issuer's tokens. */
  @TextSetting()
  OIDC_AUDIENCE?: string;

  /** Seconds since its `iat` in which a token of the external issuer is believed. */
  @WholeSetting(1, 365 * DAY)
  OIDC_TOKEN_MAX_AGE = DAY;

  /** Believe addresses of the external issuer whose tokens have no `email_verified` at all. */
  @YesOrNoSetting()
  OIDC_TRUST_EMAIL = false;

  /** Let users of the external issuer have a password here as well. */
  @YesOrNoSetting()
  OIDC_LOCAL_PASSWORDS = false;

  /** Whether anyone may register; without an external issuer when unset. */
  @IsOptional()
  @YesOrNoSetting()
  OPEN_REGISTRATION?: boolean;

  get openRegistration(): boolean {
    return this.OPEN_REGISTRATION ?? this.OIDC_ISSUER === undefined;
  }
}
