import type { VerifiedClaims } from './token-issuer';
import { MS_PER_SECOND } from '../units';

/** Characters of `sub`: OpenID Connect Core 1.0, section 2. */
const MAX_SUBJECT = 255;
/** The tolerated difference between the clocks of the issuer and of this machine, in seconds. */
const LEEWAY = 60;
const UNPRINTABLE = /\p{Cc}|\p{Surrogate}/u;

/** The claims that a token of an external issuer makes about its user. Each has the type that it must have. */
export interface ExternalClaims {
  iss: string;
  sub: string;
  /** When the user authenticated, in seconds since the epoch; 0 if the issuer doesn't say. */
  authTime: number;
  /** Until when the token is believed, in seconds since the epoch. */
  until: number;
  email?: string;
  /** Undefined if the issuer doesn't say. */
  emailVerified?: boolean;
  username?: string;
  name?: string;
}

/**
 * Reads the claims. Returns undefined if a claim has a wrong type, or the token is too old or issued in the future.
 * @param maxAge the greatest age in seconds, whatever the token's own `exp` is
 */
export function readExternalClaims(claims: VerifiedClaims, maxAge: number): ExternalClaims | undefined {
  const { iss, sub, iat, email, email_verified: emailVerified, preferred_username: username, name } = claims;
  const authTime = claims.auth_time ?? 0;
  const now = Date.now() / MS_PER_SECOND;
  if (!isSubject(sub) || !isBetween(iat, now - maxAge, now) || !isBetween(authTime, 0, now)) return undefined;
  if (!isOptionalText(email) || !isOptionalText(username) || !isOptionalText(name)) return undefined;
  const optional = { email: email ?? undefined, username: username ?? undefined, name: name ?? undefined };
  const until = Math.min(claims.exp, iat + maxAge + LEEWAY);
  return { iss, sub, authTime, until, ...optional, emailVerified: asBoolean(emailVerified) };
}

function isSubject(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= MAX_SUBJECT && !UNPRINTABLE.test(value);
}

function isBetween(seconds: unknown, from: number, to: number): seconds is number {
  return typeof seconds === 'number' && seconds >= from - LEEWAY && seconds <= to + LEEWAY;
}

/** Some issuers send null for a claim that they don't know. */
function isOptionalText(value: unknown): value is string | null | undefined {
  return value === undefined || value === null || typeof value === 'string';
}

/** Any value other than `true`, null and undefined counts as false. */
function asBoolean(value: unknown): boolean | undefined {
  return value === undefined || value === null ? undefined : value === true;
}
