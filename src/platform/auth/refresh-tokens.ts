import { createHash, randomBytes } from 'node:crypto';
import type { EntityManager } from 'typeorm';
import type { Role } from './caller';

/** Of 32 random bytes, those that every refresh token of a session begins with, and those of each alone. */
const FAMILY_BYTES = 15;
const OWN_BYTES = 17;
/** In base64url. */
const FAMILY_LENGTH = (FAMILY_BYTES * 4) / 3;

/**
 * How long, in seconds, a spent refresh token that comes back is taken for a repetition by a client that lost the
 * answer. Later it is taken for theft. Without it a bad connection signs people out.
 */
const REUSE_GRACE = 10;
/** Spent tokens of a session that are kept. Older ones are known by their family, and are no repetition any more. */
const KEPT = 2;

/** Whose refresh token was spent. */
export interface Spender {
  id: number;
  roles: Role[];
  sessionId: string;
  authenticatedAt: Date;
}

/** A new refresh token. @param previous the one that it takes the place of */
export function newRefreshToken(previous?: string): string {
  const family = previous?.slice(0, FAMILY_LENGTH) ?? randomBytes(FAMILY_BYTES).toString('base64url');
  return family + randomBytes(OWN_BYTES).toString('base64url');
}

export function hashOf(refreshToken: string): Buffer {
  return sha256(refreshToken);
}

/** What tells the session of a refresh token, be it forgotten. */
export function familyHashOf(refreshToken: string): Buffer {
  return sha256(refreshToken.slice(0, FAMILY_LENGTH));
}

/**
 * Spends a refresh token; undefined when it isn't good. The row decides: of two exchanges at once, one finds it unspent.
 * @param maxAge seconds since its sign-in
 * @param accounts those of the UserDirectory
 */
export async function spend(
  manager: EntityManager,
  hash: Buffer,
  maxAge: number,
  accounts: string,
): Promise<Spender | undefined> {
  // The session is locked first, as by everything that ends one: in another order the two would deadlock.
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

/** Removes spent tokens of a session that nobody repeats any more: however often it is prolonged, it stays small. */
export async function forgetSpent(manager: EntityManager, sessionId: string): Promise<void> {
  await manager.query(
    `DELETE FROM refresh_tokens WHERE token_hash IN (
       SELECT token_hash FROM refresh_tokens WHERE session_id = $1 AND spent_at IS NOT NULL
        ORDER BY spent_at DESC OFFSET ${KEPT})`,
    [sessionId],
  );
}

/**
 * Ends the session of a refresh token that was spent: long enough ago, or so many exchanges ago that it is forgotten.
 * @returns whose session it was; undefined when none was ended
 */
export async function endIfReused(manager: EntityManager, refreshToken: string): Promise<number | undefined> {
  const [[ended]] = await manager.query<[{ user_id: number }[]]>(
    `DELETE FROM sessions
      WHERE (family_hash = $2 OR id = (SELECT session_id FROM refresh_tokens WHERE token_hash = $1))
        AND NOT EXISTS (
          SELECT FROM refresh_tokens WHERE token_hash = $1
             AND (spent_at IS NULL OR spent_at >= now() - make_interval(secs => $3)))
      RETURNING user_id`,
    [hashOf(refreshToken), familyHashOf(refreshToken), REUSE_GRACE],
  );
  return ended?.user_id;
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
