import { OneOf, Text, Whole } from '../../platform';
import { type TokenPair } from '../../platform/accounts';

const REFRESH_TOKEN = { min: 1, max: 128 };

/** The credentials of a sign-in. */
export class CredentialsDto {
  /**
   * The username or the e-mail address.
   * @example ada
   */
  @Text({ min: 1, max: 254 })
  username: string;

  /**
   * The password.
   * @example demo-password
   */
  @Text({ min: 1, max: 128, secret: true })
  password: string;
}

/** The refresh token of the session to prolong or to end. */
export class RefreshDto {
  /**
   * The newest refresh token.
   * @example SWtm0ZpCeZy0P2K5oWYcGkJ2v1r0tQ4bC6dE8fG9hIk
   */
  @Text(REFRESH_TOKEN)
  refresh_token: string;
}

/** An access token, and the refresh token for the next pair. */
export class TokensDto {
  /**
   * The token for the header `Authorization: Bearer ...`.
   * @example eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl
   */
  @Text({ max: 8192 })
  access_token: string;

  /**
   * How to use the token.
   * @example Bearer
   */
  @OneOf(['Bearer'])
  token_type: string;

  /**
   * Seconds until the access token expires.
   * @example 900
   */
  @Whole({ min: 1 })
  expires_in: number;

  /**
   * The token to exchange for the next pair, once.
   * @example SWtm0ZpCeZy0P2K5oWYcGkJ2v1r0tQ4bC6dE8fG9hIk
   */
  @Text(REFRESH_TOKEN)
  refresh_token: string;

  /**
   * Seconds until the refresh token expires.
   * @example 2592000
   */
  @Whole({ min: 1 })
  refresh_expires_in: number;
}

export const toTokensDto = ({ accessToken, expiresIn, refreshToken, refreshExpiresIn }: TokenPair): TokensDto => ({
  access_token: accessToken,
  token_type: 'Bearer',
  expires_in: expiresIn,
  refresh_token: refreshToken,
  refresh_expires_in: refreshExpiresIn,
});
