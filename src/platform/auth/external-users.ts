import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { Settings } from '../config/settings';
import { violatedUniqueConstraint } from '../rows/unique-violation';
import { AuthenticationError } from './auth-errors';
import type { Caller, Role } from './caller';
import { compose } from '../text/composed-text';
import { isEmailAddress } from '../text/email-address';
import type { Origin } from '../transactions/origin';
import type { ExternalClaims } from './external-claims';
import { identityKey } from '../text/identity-key';
import { SecurityEvents } from './security-events';
import { isRecognisable } from '../text/username';

const MAX_USERNAME = 20;
const MIN_USERNAME = 3;
const MAX_NAME = 100;
/** For who has no name that a user may have. */
const NAMELESS = 'user';
const MILLISECOND = 1_000;

/** The local users behind the identities of an external issuer. */
@Injectable()
export class ExternalUsers {
  constructor(
    @InjectDataSource() private readonly database: DataSource,
    private readonly settings: Settings,
    private readonly events: SecurityEvents,
  ) {}

  /**
   * @param origin the request that brought the claims
   * @throws {AuthenticationError} when a user can't be made of them
   */
  async findCaller(claims: ExternalClaims, origin: Origin): Promise<Caller | undefined> {
    const user = (await this.find(claims)) ?? (await this.register(claims, origin));
    if (!user?.active) return undefined;
    return { id: user.id, roles: user.roles, authenticatedAt: claims.authTime * MILLISECOND };
  }

  private async find({ iss, sub }: ExternalClaims) {
    const rows = await this.database.query<{ id: number; roles: Role[]; active: boolean }[]>(
      `SELECT users.id, users.roles, users.status = 'ACTIVE' AND users.deleted_at IS NULL AS active
         FROM external_identities JOIN users ON users.id = user_id WHERE issuer = $1 AND subject = $2`,
      [iss, sub],
    );
    return rows[0];
  }

  /**
   * Makes a user. Never links to one with the same e-mail address: whoever registered that here first would keep its
   * password, and get into the other's account.
   */
  private async register(claims: ExternalClaims, origin: Origin) {
    const email = this.addressOf(claims);
    const username = usernameOf(claims, email);
    const constraint =
      (await this.insert(claims, username, email)) && (await this.insert(claims, suffixed(username), email));
    // Another request may have made the same user in the meantime.
    const user = await this.find(claims);
    if (user && !constraint) {
      this.events.record('user_created', { outcome: 'success', target_id: user.id, roles: user.roles }, origin);
    }
    if (!user && constraint === 'users_email_unique') await this.refuseTaken(claims, email, origin);
    return user;
  }

  /** @throws {AuthenticationError} unless the issuer vouches for it */
  private addressOf({ email, emailVerified = this.settings.OIDC_TRUST_EMAIL }: ExternalClaims): string {
    if (email === undefined || !isEmailAddress(email)) {
      throw new AuthenticationError('The token names no e-mail address', 'Bearer error="invalid_token"');
    }
    if (!emailVerified) {
      throw new AuthenticationError('The e-mail address is not verified', 'Bearer error="invalid_token"');
    }
    return email;
  }

  /** Returns the unique constraint that has refused it, if one has. */
  private async insert({ iss, sub, name = '' }: ExternalClaims, username: string, email: string) {
    try {
      await this.database.query(
        `WITH made AS (
           INSERT INTO users (username, username_key, email, email_key, name) VALUES ($1, $2, $3, $4, $5) RETURNING id)
         INSERT INTO external_identities (issuer, subject, user_id) SELECT $6, $7, id FROM made`,
        [username, identityKey(username), email, identityKey(email), clean(name, MAX_NAME) || null, iss, sub],
      );
      return undefined;
    } catch (error) {
      const constraint = violatedUniqueConstraint(error);
      if (constraint === undefined) throw error;
      return constraint;
    }
  }

  /** Whoever holds the address, somebody has to decide whose it is: the log says between whom. */
  private async refuseTaken(
    { iss: issuer, sub: subject }: ExternalClaims,
    email: string,
    origin: Origin,
  ): Promise<never> {
    const [holder] = await this.database.query<{ id: number }[]>(
      'SELECT id FROM users WHERE email_key = $1 AND deleted_at IS NULL',
      [identityKey(email)],
    );
    this.events.record('authn_address_taken', { outcome: 'failure', target_id: holder?.id, issuer, subject }, origin);
    throw new AuthenticationError('The e-mail address belongs to another user', 'Bearer error="invalid_token"');
  }
}

function usernameOf({ username = '' }: ExternalClaims, email: string): string {
  const wishes = [username.replaceAll('@', ''), email.split('@')[0]].map((wish) => clean(wish, MAX_USERNAME));
  const name = wishes.find((wish) => wish !== '' && isRecognisable(wish)) ?? NAMELESS;
  return name + '-'.repeat(Math.max(0, MIN_USERNAME - [...name].length));
}

function suffixed(username: string): string {
  const suffix = `-${randomBytes(3).toString('hex')}`;
  return cut(username, MAX_USERNAME - suffix.length) + suffix;
}

/** Cut first: the claim of another's token is as long as that likes. Composing may lengthen it. */
function clean(text: string, max: number): string {
  const composed = compose(cut(text, max), max) ?? '';
  return cut(composed.replace(/\p{Cc}|\p{Surrogate}/gu, '').trim(), max);
}

function cut(text: string, codePoints: number): string {
  return [...text].slice(0, codePoints).join('').trim();
}
