import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { JwtService } from '@nestjs/jwt';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, type EntityManager } from 'typeorm';
import { Settings } from '../config/settings';
import { BatchedRead } from '../database/batched-reads';
import { AuthenticationError } from './auth-errors';
import type { Caller, Role } from './caller';
import { RefreshToken, Session } from './session.entity';
import { itself, SecurityEvents } from './security-events';
import { SigningKeys } from './signing-keys';

const REFRESH_TOKEN_BYTES = 32;
const MILLISECOND = 1_000;

/**
 * How long, in seconds, a spent refresh token that comes back is taken for a repetition by a client that lost the
 * answer. Later it is taken for theft. Without it a bad connection signs people out.
 */
const REUSE_GRACE = 10;

export interface TokenPair {
  userId: number;
  accessToken: string;
  /** Seconds. */
  expiresIn: number;
  refreshToken: string;
  /** Seconds. */
  refreshExpiresIn: number;
}

interface Signer {
  id: number;
  roles: Role[];
  sessionId: string;
  authenticatedAt: Date;
}

interface CallerRow {
  sid: string;
  id: number;
  roles: Role[];
  authenticated_at: Date;
}

const callers = new BatchedRead<string, CallerRow>(
  'read-callers',
  `SELECT sessions.id AS sid, users.id, users.roles, sessions.authenticated_at
     FROM sessions JOIN users ON users.id = sessions.user_id
    WHERE sessions.id = ANY($1::uuid[]) AND users.status = 'ACTIVE' AND users.deleted_at IS NULL`,
  ({ sid }) => sid,
);

/** Sessions: made by a sign-in, prolonged by rotating refresh tokens, asked for at every request. */
@Injectable()
export class Sessions {
  constructor(
    @InjectDataSource() private readonly database: DataSource,
    private readonly jwt: JwtService,
    private readonly keys: SigningKeys,
    private readonly settings: Settings,
    private readonly events: SecurityEvents,
  ) {}

  /** The caller behind a session, or undefined when it ended or its user is suspended or gone. */
  async findCaller(sessionId: string): Promise<Caller | undefined> {
    const row = await callers.read(this.database, sessionId);
    return row && { id: row.id, roles: row.roles, authenticatedAt: row.authenticated_at.getTime() };
  }

  /** Starts a session for a user whose password was just verified. */
  start(user: { id: number; roles: Role[] }): Promise<TokenPair> {
    return this.database.transaction(async (manager) => {
      const session = { id: randomUUID(), authenticatedAt: new Date() };
      // Nobody else deletes them: a user's own sign-in sweeps what that user left behind.
      await manager.query('DELETE FROM sessions WHERE user_id = $1 AND expires_at < now()', [user.id]);
      await manager.insert(Session, {
        id: session.id,
        user_id: user.id,
        authenticated_at: session.authenticatedAt,
        expires_at: this.refreshExpiry(),
      });
      return this.issue(manager, { ...user, sessionId: session.id, authenticatedAt: session.authenticatedAt });
    });
  }

  /**
   * Exchanges a refresh token for a new pair. The row decides: of two exchanges at once, one finds it unspent.
   * @throws {AuthenticationError}
   */
  async rotate(refreshToken: string): Promise<TokenPair> {
    const hash = sha256(refreshToken);
    const pair = await this.database.transaction(async (manager) => {
      const signer = await spend(manager, hash);
      if (!signer) return undefined;
      await manager.update(Session, { id: signer.sessionId }, { expires_at: this.refreshExpiry() });
      return this.issue(manager, signer);
    });
    if (!pair) {
      await this.endIfReused(hash);
      throw AuthenticationError.wrongCredentials();
    }
    this.events.record('session_renewed', { outcome: 'success', ...itself(pair.userId) });
    return pair;
  }

  /**
   * Ends the session that a refresh token belongs to.
   * @throws {AuthenticationError} when there is none
   */
  async end(refreshToken: string): Promise<void> {
    const [[ended]] = await this.database.query<[{ user_id: number }[]]>(
      'DELETE FROM sessions USING refresh_tokens WHERE session_id = sessions.id AND token_hash = $1 RETURNING user_id',
      [sha256(refreshToken)],
    );
    if (!ended) throw AuthenticationError.wrongCredentials();
    this.events.record('authn_token_revoked', { outcome: 'success', ...itself(ended.user_id) });
  }

  /** Ends all sessions of a user, in the transaction of the change that calls for it. */
  async endAll(manager: EntityManager, userId: number): Promise<void> {
    await manager.delete(Session, { user_id: userId });
  }

  private async issue(manager: EntityManager, signer: Signer): Promise<TokenPair> {
    const refreshToken = randomBytes(REFRESH_TOKEN_BYTES).toString('base64url');
    await manager.insert(RefreshToken, {
      token_hash: sha256(refreshToken),
      session_id: signer.sessionId,
      expires_at: this.refreshExpiry(),
    });
    return {
      userId: signer.id,
      accessToken: await this.sign(signer),
      expiresIn: this.settings.ACCESS_TOKEN_TTL,
      refreshToken,
      refreshExpiresIn: this.settings.REFRESH_TOKEN_TTL,
    };
  }

  private sign({ id, roles, sessionId, authenticatedAt }: Signer): Promise<string> {
    const claims = { sid: sessionId, roles, auth_time: Math.floor(authenticatedAt.getTime() / MILLISECOND) };
    return this.jwt.signAsync(claims, {
      privateKey: this.keys.current.key,
      keyid: this.keys.current.kid,
      algorithm: this.keys.algorithm,
      issuer: this.settings.JWT_ISSUER,
      audience: this.settings.JWT_AUDIENCE,
      subject: String(id),
      jwtid: randomUUID(),
      expiresIn: this.settings.ACCESS_TOKEN_TTL,
    });
  }

  private async endIfReused(hash: Buffer): Promise<void> {
    const [[ended]] = await this.database.query<[{ user_id: number }[]]>(
      `DELETE FROM sessions USING refresh_tokens WHERE session_id = sessions.id AND token_hash = $1
          AND spent_at < now() - make_interval(secs => $2) RETURNING user_id`,
      [hash, REUSE_GRACE],
    );
    if (ended) this.events.record('authn_token_reuse', { outcome: 'failure', target_id: ended.user_id });
  }

  private refreshExpiry(): Date {
    return new Date(Date.now() + this.settings.REFRESH_TOKEN_TTL * MILLISECOND);
  }
}

async function spend(manager: EntityManager, hash: Buffer): Promise<Signer | undefined> {
  // The session is locked first, as by everything that ends one: in another order the two would deadlock.
  const [rows] = await manager.query<[{ id: number; roles: Role[]; sid: string; at: Date }[]]>(
    `WITH live AS (
       SELECT users.id, users.roles, sessions.id AS sid, sessions.authenticated_at AS at
         FROM refresh_tokens JOIN sessions ON sessions.id = session_id JOIN users ON users.id = sessions.user_id
        WHERE token_hash = $1 AND users.status = 'ACTIVE' AND users.deleted_at IS NULL
          FOR UPDATE OF sessions)
     UPDATE refresh_tokens SET spent_at = now() FROM live
      WHERE token_hash = $1 AND spent_at IS NULL AND expires_at > now()
      RETURNING live.*`,
    [hash],
  );
  return rows.map(({ id, roles, sid, at }) => ({ id, roles, sessionId: sid, authenticatedAt: at }))[0];
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
