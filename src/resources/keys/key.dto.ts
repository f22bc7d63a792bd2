/** One public key, as RFC 7517 has it. */
export class KeyDto {
  /**
   * The kind of key.
   * @example RSA
   */
  kty: string;

  /**
   * The modulus, base64url.
   * @example 0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw
   */
  n: string;

  /**
   * The exponent, base64url.
   * @example AQAB
   */
  e: string;

  /**
   * Stands in the header of the tokens that this key signed.
   * @example FNif58G_9cSikjSdqp7wIlITySNiL23wMZsMqc03ois
   */
  kid: string;

  /**
   * For signatures.
   * @example sig
   */
  use: string;

  /**
   * The algorithm of the signatures.
   * @example RS256
   */
  alg: string;
}

/** The public keys. During a rotation there are two. */
export class KeySetDto {
  /** The keys that verify access tokens. */
  keys: KeyDto[];
}
