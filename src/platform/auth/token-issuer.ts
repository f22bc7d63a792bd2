import type { KeyObject } from 'node:crypto';
import type { Algorithm, JwtHeader } from 'jsonwebtoken';
import type { Origin } from '../transactions/origin';
import type { Caller } from './caller';

/** The claims of a token whose signature, issuer, audience and times were verified. What else it says may be of any type. */
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

/** Someone whose access tokens are believed. */
export interface TokenIssuer {
  readonly issuer: string;
  readonly audience: string;
  /** Any other algorithm in a token is refused before its signature is looked at. */
  readonly algorithms: Algorithm[];
  findKey(header: JwtHeader): Promise<KeyObject | undefined>;
  /**
   * The local user that the claims speak of; undefined when there is none who may act.
   * @param origin the request that the token came with
   */
  findCaller(claims: VerifiedClaims, origin: Origin): Promise<Caller | undefined>;
}
