import { IsOptional, IsString, IsUrl } from 'class-validator';
import { ExportSettings } from './export-settings';
import { TextSetting, WholeSetting, YesOrNoSetting } from './setting-rules';
import { SECONDS_PER_DAY, SECONDS_PER_MINUTE } from '../units';

/** The settings of tokens, sessions and the identity provider, a part of {@link Settings}. */
export abstract class TokenSettings extends ExportSettings {
  /** The claim `iss` of this service's tokens; JWT_AUDIENCE is the claim `aud`. Both are set and required. */
  @IsString()
  JWT_ISSUER = 'resource-api';

  @IsString()
  JWT_AUDIENCE = 'resource-api';

  /** Lifetime of an access token in seconds. */
  @WholeSetting(1, SECONDS_PER_DAY)
  ACCESS_TOKEN_TTL = 15 * SECONDS_PER_MINUTE;

  /** Lifetime of a refresh token in seconds. */
  @WholeSetting(1, 3650 * SECONDS_PER_DAY)
  REFRESH_TOKEN_TTL = 30 * SECONDS_PER_DAY;

  /** Lifetime of a session in seconds, from its sign-in, however often it is refreshed. */
  @WholeSetting(1, 3650 * SECONDS_PER_DAY)
  SESSION_MAX_AGE = 90 * SECONDS_PER_DAY;

  /** A second, external issuer of access tokens. */
  @IsOptional()
  @IsUrl({ require_tld: false, protocols: ['http', 'https'], require_protocol: true })
  OIDC_ISSUER?: string;

  /** The audience that tokens of the external issuer must name. */
  @TextSetting()
  OIDC_AUDIENCE?: string;

  /** The greatest age of a token of the external issuer in seconds, counted from `iat`. */
  @WholeSetting(1, 365 * SECONDS_PER_DAY)
  OIDC_TOKEN_MAX_AGE = SECONDS_PER_DAY;

  /** Trusts e-mail addresses of the external issuer if its tokens have no claim `email_verified`. */
  @YesOrNoSetting()
  OIDC_TRUST_EMAIL = false;

  /** Allows users of the external issuer to have a password here as well. */
  @YesOrNoSetting()
  OIDC_LOCAL_PASSWORDS = false;

  /** Allows anybody to register. When unset: true without an external issuer, false with one. */
  @IsOptional()
  @YesOrNoSetting()
  OPEN_REGISTRATION?: boolean;

  get openRegistration(): boolean {
    return this.OPEN_REGISTRATION ?? this.OIDC_ISSUER === undefined;
  }
}
