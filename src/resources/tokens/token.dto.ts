import { OneOf, Text, type TokenPair, Whole } from '../../platform';

const REFRESH_TOKEN = { min: 1, max: 128 };

/** Who signs in. */
export class SignInDto {
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

/** The session to prolong or to end, by its refresh token. */
export class RefreshDto {
  /**
   * The newest refresh token.
   * @example SWtm0ZpCeZy0P2K5oWYcGkJ2v1r0tQ4bC6dE8fG9hIk
   */
  @Text(REFRESH_TOKEN)
  refresh_token: string;
}

/** A pair of tokens: one to call with, one to get the next pair with. */
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
   * Can be exchanged once.
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
