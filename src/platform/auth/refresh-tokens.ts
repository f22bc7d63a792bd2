import { createHash, randomBytes } from 'node:crypto';
import type { EntityManager } from 'typeorm';
import type { Role } from './caller';

/** A refresh token has 32 random bytes: the first 15 are the same for all tokens of a session, the other 17 differ. */
const FAMILY_BYTES = 15;
const OWN_BYTES = 17;
/** The length of the common part in base64url. */
const FAMILY_LENGTH = (FAMILY_BYTES * 4) / 3;

/**
 * The time, in seconds, within which a spent refresh token is taken for a retry by a client that lost the answer. After
 * it, the token is taken for stolen. Without the grace period an unreliable connection would sign users out.
 */
export const REUSE_GRACE = 10;
/**
 * The number of spent tokens that are kept for each session. An older one is recognised by its family, and is never
 * taken for a retry.
 */
const KEPT = 2;

/** The user whose refresh token was spent. */
export interface Spender {
  id: number;
  roles: Role[];
  sessionId: string;
  authenticatedAt: Date;
}

/** Makes a new refresh token. @param previous the token that it replaces, whose family it keeps */
export function newRefreshToken(previous?: string): string {
  const family = previous?.slice(0, FAMILY_LENGTH) ?? randomBytes(FAMILY_BYTES).toString('base64url');
  return family + randomBytes(OWN_BYTES).toString('base64url');
}

export function hashOf(refreshToken: string): Buffer {
  return sha256(refreshToken);
}

/** The hash that identifies the session of a refresh token, even when the token's own row is deleted. */
export function familyHashOf(refreshToken: string): Buffer {
  return sha256(refreshToken.slice(0, FAMILY_LENGTH));
}

/**
 * Spends a refresh token. Returns undefined if the token isn't good. Of two concurrent calls, the row lets only one
 * find the token unspent.
 * @param maxAge the greatest age of the sign-in, in seconds
 * @param accounts the `accounts` of the UserDirectory
 */
export async function spend(
  manager: EntityManager,
  hash: Buffer,
  maxAge: number,
  accounts: string,
): Promise<Spender | undefined> {
  // The session is locked first, as in every statement that ends sessions. Another order could deadlock.
  const [rows] = await manager.query<[{ id: number; roles: Role[]; sid: string; at: Date }[]]>(
    `WITH live AS (
       SELECT account.id, account.roles, sessions.id AS sid, sessions.authenticated_at AS at
         FROM refresh_tokens JOIN sessions ON sessions.id = session_id
         JOIN (${accounts}) AS account ON account.id = sessions.user_id
        WHERE token_hash = $1 AND account.active
          AND sessions.authenticated_at > now() - make_interval(secs => $2)
          FOR UPDATE OF sessions)
     UPDATE refresh_tokens SET spent_at = now() FROM live
      WHERE token_hash = $1 AND spent_at IS NULL AND expires_at > now()
      RETURNING live.*`,
    [hash, maxAge],
  );
  return rows.map(({ id, roles, sid, at }) => ({ id, roles, sessionId: sid, authenticatedAt: at }))[0];
}

/** Deletes spent tokens that are too old for a retry, so that a session stays small however often it is refreshed. */
export async function forgetSpent(manager: EntityManager, sessionId: string): Promise<void> {
  await manager.query(
    `DELETE FROM refresh_tokens WHERE token_hash IN (
       SELECT token_hash FROM refresh_tokens WHERE session_id = $1 AND spent_at IS NOT NULL
        ORDER BY spent_at DESC OFFSET ${KEPT})`,
    [sessionId],
  );
}

/** The reason why a refresh token wasn't good. Neither of them is set for a token that nobody has got. */
interface Reuse {
  /** The user whose session was ended. */
  endedOf: number | null;
  /** True if the token was spent within the grace period. */
  isRepetition: boolean;
}

/** Ends the session of a refresh token that was spent, if its grace period is over or its row is already deleted. */
export async function endIfReused(manager: EntityManager, refreshToken: string): Promise<Reuse> {
  const [reuse] = await manager.query<[Reuse]>(
    `WITH recent AS (
       SELECT spent_at FROM refresh_tokens WHERE token_hash = $1
          AND (spent_at IS NULL OR spent_at >= now() - make_interval(secs => $3))),
     ended AS (
       DELETE FROM sessions
        WHERE (family_hash = $2 OR id = (SELECT session_id FROM refresh_tokens WHERE token_hash = $1))
          AND NOT EXISTS (SELECT FROM recent)
       RETURNING user_id)
     SELECT (SELECT user_id FROM ended) AS "endedOf",
            EXISTS (SELECT FROM recent WHERE spent_at IS NOT NULL) AS "isRepetition"`,
    [hashOf(refreshToken), familyHashOf(refreshToken), REUSE_GRACE],
  );
  return reuse;
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
