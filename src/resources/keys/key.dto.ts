import { ApiProperty } from '@nestjs/swagger';

/** The length of the greatest modulus in base64url: OpenSSL allows 16,384 bits. */
const MAX_MODULUS = 2_731;
const base64url = (maxLength: number) => ({ type: String, maxLength, pattern: '^[A-Za-z0-9_-]+$' });

/** A public key in the form of RFC 7517. */
export class KeyDto {
  /**
   * The kind of key.
   * @example RSA
   */
  @ApiProperty({ enum: ['RSA'] })
  kty: string;

  /**
   * The modulus, base64url.
   * @example 0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw
   */
  @ApiProperty(base64url(MAX_MODULUS))
  n: string;

  /**
   * The exponent, base64url.
   * @example AQAB
   */
  @ApiProperty(base64url(MAX_MODULUS))
  e: string;

  /**
   * The id of the key. Tokens that this key signed have it in their header.
   * @example FNif58G_9cSikjSdqp7wIlITySNiL23wMZsMqc03ois
   */
  @ApiProperty(base64url(43))
  kid: string;

  /**
   * The use of the key: signatures.
   * @example sig
   */
  @ApiProperty({ enum: ['sig'] })
  use: string;

  /**
   * The algorithm of the signatures.
   * @example RS256
   */
  @ApiProperty({ enum: ['RS256'] })
  alg: string;
}

/** The public keys. During a rotation there are two. */
export class KeySetDto {
  /** The keys that verify access tokens. */
  keys: KeyDto[];
}
