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
import { itself, SecurityEvents } from './security-events';
import { SigningKeys } from './signing-keys';
import { UserDirectory } from './user-directory';

const MILLISECOND = 1_000;
/** Of one user; with one more the oldest ends. */
const MAX_SESSIONS = 100;

export interface TokenPair {
  userId: number;
  accessToken: string;
  /** Seconds. */
  expiresIn: number;
  refreshToken: string;
  /** Seconds. */
  refreshExpiresIn: number;
}

/** Sessions: made by a sign-in, prolonged by rotating refresh tokens, asked for at every request. */
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
    this.callers = sessionCallers(users.accounts);
  }

  /** The caller behind a session, or undefined when it ended or its user is suspended or gone. */
  async findCaller(sessionId: string): Promise<Caller | undefined> {
    const row = await this.callers.read(this.database, sessionId);
    if (!row || this.secondsLeft(row.authenticated_at) <= 0) return undefined;
    return { id: row.id, sessionId, roles: row.roles, authenticatedAt: row.authenticated_at.getTime() };
  }

  /**
   * Starts a session for a user whose password was just verified, if it still is the password, and the user may sign in.
   * @throws {AuthenticationError}
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
   * Exchanges a refresh token for a new pair.
   * @throws {AuthenticationError}
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
      await this.endIfReused(refreshToken);
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
      [hashOf(refreshToken)],
    );
    if (!ended) throw AuthenticationError.wrongCredentials();
    this.events.record('authn_token_revoked', { outcome: 'success', ...itself(ended.user_id) });
  }

  /** Ends all sessions of a user, in the transaction of the change that calls for it. */
  async endAll(manager: EntityManager, userId: number): Promise<void> {
    await manager.delete(Session, { user_id: userId });
  }

  /**
   * The roles of a user who may sign in with this very password, whose row is locked: a change of password or status that
   * came first is seen, and one that comes later finds the session.
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

  /** What a new refresh token changes of its session. */
  private prolonged({ authenticatedAt }: Spender, refreshToken: string): Pick<Session, 'expires_at' | 'family_hash'> {
    return { expires_at: this.refreshExpiry(authenticatedAt), family_hash: familyHashOf(refreshToken) };
  }

  private async issue(manager: EntityManager, spender: Spender, refreshToken: string): Promise<TokenPair> {
    const { sessionId: session_id, authenticatedAt } = spender;
    const { ACCESS_TOKEN_TTL, REFRESH_TOKEN_TTL } = this.settings;
    const expires_at = this.refreshExpiry(authenticatedAt);
    await manager.insert(RefreshToken, { token_hash: hashOf(refreshToken), session_id, expires_at });
    // Nothing outlives the session, and something is left of one that was good a moment ago.
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
    const claims = { sid: sessionId, roles, auth_time: Math.floor(authenticatedAt.getTime() / MILLISECOND) };
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

  private async endIfReused(refreshToken: string): Promise<void> {
    const userId = await endIfReused(this.database.manager, refreshToken);
    if (userId !== undefined) this.events.record('authn_token_reuse', { outcome: 'failure', target_id: userId });
  }

  /** Until the absolute end of a session, however often it is prolonged. */
  private secondsLeft(authenticatedAt: Date): number {
    return this.settings.SESSION_MAX_AGE - (Date.now() - authenticatedAt.getTime()) / MILLISECOND;
  }

  private refreshExpiry(authenticatedAt: Date): Date {
    const left = Math.min(this.settings.REFRESH_TOKEN_TTL, this.secondsLeft(authenticatedAt));
    return new Date(Date.now() + left * MILLISECOND);
  }
}

/** Makes room for another session. The user's row is locked, so of two sign-ins at once each counts the other's. */
async function endOldest(manager: EntityManager, userId: number): Promise<void> {
  await manager.query(
    `DELETE FROM sessions WHERE user_id = $1 AND (expires_at < now() OR id IN (
       SELECT id FROM sessions WHERE user_id = $1 AND expires_at >= now()
        ORDER BY authenticated_at DESC, id OFFSET ${MAX_SESSIONS - 1}))`,
    [userId],
  );
}
