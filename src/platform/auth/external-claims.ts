import type { VerifiedClaims } from './token-issuer';

/** OpenID Connect Core 1.0, section 2. */
const MAX_SUBJECT = 255;
const MILLISECOND = 1_000;
/** Seconds that the clocks of the issuer and this machine may differ by. */
const LEEWAY = 60;
const UNPRINTABLE = /\p{Cc}|\p{Surrogate}/u;

/** What a token of an external issuer says of its user, each of the type that it must have. */
export interface ExternalClaims {
  iss: string;
  sub: string;
  /** When the user proved who it is, in seconds since the epoch; 0 when the issuer doesn't tell. */
  authTime: number;
  email?: string;
  /** Undefined when the issuer doesn't tell. */
  emailVerified?: boolean;
  username?: string;
  name?: string;
}

/**
 * Reads the claims; undefined when one has a wrong type, or when the token isn't of this time.
 * @param maxAge seconds since it was issued, whatever its own `exp` is
 */
export function readExternalClaims(claims: VerifiedClaims, maxAge: number): ExternalClaims | undefined {
  const { iss, sub, iat, email, email_verified: emailVerified, preferred_username: username, name } = claims;
  const authTime = claims.auth_time ?? 0;
  const now = Date.now() / MILLISECOND;
  if (!isSubject(sub) || !isBetween(iat, now - maxAge, now) || !isBetween(authTime, 0, now)) return undefined;
  if (!isOptionalText(email) || !isOptionalText(username) || !isOptionalText(name)) return undefined;
  const optional = { email: email ?? undefined, username: username ?? undefined, name: name ?? undefined };
  return { iss, sub, authTime, ...optional, emailVerified: asBoolean(emailVerified) };
}

function isSubject(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= MAX_SUBJECT && !UNPRINTABLE.test(value);
}

function isBetween(seconds: unknown, from: number, to: number): seconds is number {
  return typeof seconds === 'number' && seconds >= from - LEEWAY && seconds <= to + LEEWAY;
}

/** Some issuers send null for what they don't know. */
function isOptionalText(value: unknown): value is string | null | undefined {
  return value === undefined || value === null || typeof value === 'string';
}

/** What is neither true nor absent is no proof. */
function asBoolean(value: unknown): boolean | undefined {
  return value === undefined || value === null ? undefined : value === true;
}
