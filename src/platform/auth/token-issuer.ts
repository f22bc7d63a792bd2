import type { KeyObject } from 'node:crypto';
import type { Algorithm, JwtHeader } from 'jsonwebtoken';
import type { Origin } from '../transactions/origin';
import type { Caller } from './caller';

/** The claims of a token whose signature, issuer, audience and times are verified. Other claims may have any type. */
export interface VerifiedClaims {
  iss: string;
  aud: string | string[];
  iat: number;
  exp: number;
  sub?: unknown;
  auth_time?: unknown;
  sid?: unknown;
  email?: unknown;
  email_verified?: unknown;
  preferred_username?: unknown;
  name?: unknown;
}

/** An issuer whose access tokens are accepted. */
export interface TokenIssuer {
  readonly issuer: string;
  readonly audience: string;
  /** A token with any other algorithm is refused before its signature is checked. */
  readonly algorithms: Algorithm[];
  findKey(header: JwtHeader): Promise<KeyObject | undefined>;
  /**
   * The local user that the claims name. Undefined if there is none, or it may not act.
   * @param origin the request that brought the token
   */
  findCaller(claims: VerifiedClaims, origin: Origin): Promise<Caller | undefined>;
}
