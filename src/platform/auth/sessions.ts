import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { JwtService } from '@nestjs/jwt';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, type EntityManager } from 'typeorm';
import { Settings } from '../config/settings';
import { AuthenticationError } from './auth-errors';
import type { Caller, Role } from './caller';
import { endIfReused, familyHashOf, forgetSpent, hashOf, newRefreshToken, type Spender, spend } from './refresh-tokens';
import { RefreshToken, Session } from './session.entity';
import { sessionCallers } from './session-callers';
import { actsOnItself, SecurityEvents } from './security-events';
import { SigningKeys } from './signing-keys';
import { UserDirectory } from './user-directory';
import { MS_PER_SECOND } from '../units';

/** The number of sessions that a user may have. One more ends the oldest. */
const MAX_SESSIONS = 100;

export interface TokenPair {
  userId: number;
  accessToken: string;
  /** Lifetime of the access token, in seconds. */
  expiresIn: number;
  refreshToken: string;
  /** Lifetime of the refresh token, in seconds. */
  refreshExpiresIn: number;
}

/** Sessions: created by a sign-in, prolonged by rotating refresh tokens, checked at every request. */
@Injectable()
export class Sessions {
  private readonly callers: ReturnType<typeof sessionCallers>;

  constructor(
    @InjectDataSource() private readonly database: DataSource,
    private readonly jwt: JwtService,
    private readonly keys: SigningKeys,
    private readonly settings: Settings,
    private readonly events: SecurityEvents,
    private readonly users: UserDirectory,
  ) {
    this.callers = sessionCallers(users.accounts, settings.DATABASE_REPLICA_URL !== undefined);
  }

  /** The caller behind a session. Undefined if the session has ended, or its user is suspended or deleted. */
  async findCaller(sessionId: string): Promise<Caller | undefined> {
    const row = await this.callers.read(this.database, sessionId);
    if (!row || this.secondsLeft(row.authenticated_at) <= 0) return undefined;
    const { id, roles, position } = row;
    return { id, sessionId, roles, authenticatedAt: row.authenticated_at.getTime(), position: position ?? undefined };
  }

  /**
   * Starts a session for a user whose password was just verified.
   * @throws {AuthenticationError} if the password was changed meanwhile, or the user may not sign in
   */
  start({ id, password_hash }: { id: number; password_hash: string | null }): Promise<TokenPair> {
    return this.database.transaction(async (manager) => {
      const roles = await this.holdUser(manager, id, password_hash);
      if (!roles) throw AuthenticationError.wrongCredentials();
      await endOldest(manager, id);
      const spender = { id, roles, sessionId: randomUUID(), authenticatedAt: new Date() };
      const refreshToken = newRefreshToken();
      await manager.insert(Session, {
        id: spender.sessionId,
        user_id: id,
        authenticated_at: spender.authenticatedAt,
        ...this.prolonged(spender, refreshToken),
      });
      return this.issue(manager, spender, refreshToken);
    });
  }

  /**
   * Exchanges a refresh token for a new pair of tokens.
   * @throws {AuthenticationError} if the refresh token isn't good
   */
  async rotate(refreshToken: string): Promise<TokenPair> {
    const pair = await this.database.transaction(async (manager) => {
      const { SESSION_MAX_AGE } = this.settings;
      const spender = await spend(manager, hashOf(refreshToken), SESSION_MAX_AGE, this.users.accounts);
      if (!spender) return undefined;
      await forgetSpent(manager, spender.sessionId);
      const next = newRefreshToken(refreshToken);
      await manager.update(Session, { id: spender.sessionId }, this.prolonged(spender, next));
      return this.issue(manager, spender, next);
    });
    if (!pair) {
      throw await this.refusalOf(refreshToken);
    }
    this.events.record('session_renewed', { outcome: 'success', ...actsOnItself(pair.userId) });
    return pair;
  }

  /**
   * Ends the session of a refresh token.
   * @throws {AuthenticationError} if there is no such session
   */
  async end(refreshToken: string): Promise<void> {
    const [[ended]] = await this.database.query<[{ user_id: number }[]]>(
      'DELETE FROM sessions USING refresh_tokens WHERE session_id = sessions.id AND token_hash = $1 RETURNING user_id',
      [hashOf(refreshToken)],
    );
    if (!ended) throw AuthenticationError.wrongCredentials();
    this.events.record('authn_token_revoked', { outcome: 'success', ...actsOnItself(ended.user_id) });
  }

  /** Ends all sessions of a user. @param manager the transaction of the change that requires it */
  async endAll(manager: EntityManager, userId: number): Promise<void> {
    await manager.delete(Session, { user_id: userId });
  }

  /**
   * Locks the row of a user who may sign in with this password hash, and returns its roles. An earlier change of the
   * password or status is seen here, and a later one finds the new session and ends it.
   */
  private async holdUser(manager: EntityManager, id: number, hash: string | null): Promise<Role[] | undefined> {
    const rows = await manager.query<{ roles: Role[] }[]>(
      `SELECT roles FROM (${this.users.accounts}) AS account
        WHERE id = $1 AND password_hash = $2 AND active
          AND ($3 OR NOT EXISTS (SELECT FROM external_identities WHERE user_id = account.id))
          FOR NO KEY UPDATE`,
      [id, hash, this.settings.OIDC_LOCAL_PASSWORDS],
    );
    return rows[0]?.roles;
  }

  /** The columns of a session that a new refresh token changes. */
  private prolonged({ authenticatedAt }: Spender, refreshToken: string): Pick<Session, 'expires_at' | 'family_hash'> {
    return { expires_at: this.refreshExpiry(authenticatedAt), family_hash: familyHashOf(refreshToken) };
  }

  private async issue(manager: EntityManager, spender: Spender, refreshToken: string): Promise<TokenPair> {
    const { sessionId: session_id, authenticatedAt } = spender;
    const { ACCESS_TOKEN_TTL, REFRESH_TOKEN_TTL } = this.settings;
    const expires_at = this.refreshExpiry(authenticatedAt);
    await manager.insert(RefreshToken, { token_hash: hashOf(refreshToken), session_id, expires_at });
    // A token never outlives its session. At least one second is left of a session that was good a moment ago.
    const left = Math.max(1, Math.floor(this.secondsLeft(authenticatedAt)));
    const expiresIn = Math.min(ACCESS_TOKEN_TTL, left);
    return {
      userId: spender.id,
      accessToken: await this.sign(spender, expiresIn),
      expiresIn,
      refreshToken,
      refreshExpiresIn: Math.min(REFRESH_TOKEN_TTL, left),
    };
  }

  private sign({ id, roles, sessionId, authenticatedAt }: Spender, expiresIn: number): Promise<string> {
    const claims = { sid: sessionId, roles, auth_time: Math.floor(authenticatedAt.getTime() / MS_PER_SECOND) };
    return this.jwt.signAsync(claims, {
      privateKey: this.keys.current.key,
      keyid: this.keys.current.kid,
      algorithm: this.keys.algorithm,
      issuer: this.settings.JWT_ISSUER,
      audience: this.settings.JWT_AUDIENCE,
      subject: String(id),
      jwtid: randomUUID(),
      expiresIn,
    });
  }

  /** The error for a refresh token that isn't good. Ends its session if it was stolen. */
  private async refusalOf(refreshToken: string): Promise<AuthenticationError> {
    const { endedOf, isRepetition } = await endIfReused(this.database.manager, refreshToken);
    if (endedOf !== null) this.events.record('authn_token_reuse', { outcome: 'failure', target_id: endedOf });
    return isRepetition ? AuthenticationError.repeatedRefresh() : AuthenticationError.wrongCredentials();
  }

  /** Seconds until the absolute end of a session, which refreshing doesn't move. */
  private secondsLeft(authenticatedAt: Date): number {
    return this.settings.SESSION_MAX_AGE - (Date.now() - authenticatedAt.getTime()) / MS_PER_SECOND;
  }

  private refreshExpiry(authenticatedAt: Date): Date {
    const left = Math.min(this.settings.REFRESH_TOKEN_TTL, this.secondsLeft(authenticatedAt));
    return new Date(Date.now() + left * MS_PER_SECOND);
  }
}

/**
 * Makes room for another session. The row of the user is locked, so each of two concurrent sign-ins counts the session
 * of the other.
 */
async function endOldest(manager: EntityManager, userId: number): Promise<void> {
  await manager.query(
    `DELETE FROM sessions WHERE user_id = $1 AND (expires_at < now() OR id IN (
       SELECT id FROM sessions WHERE user_id = $1 AND expires_at >= now()
        ORDER BY authenticated_at DESC, id OFFSET ${MAX_SESSIONS - 1}))`,
    [userId],
  );
}
