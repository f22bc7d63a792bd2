import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, QueryFailedError } from 'typeorm';
import { AuthenticationError } from './auth-errors';
import type { Caller, Role } from './caller';
import { compose } from './composed-text';
import { isEmailAddress } from './email-address';
import { identityKey } from './identity-key';
import type { VerifiedClaims } from './token-issuer';
import { isRecognisable } from './username';

const MAX_USERNAME = 20;
const MIN_USERNAME = 3;
const MAX_NAME = 100;
/** For who has no name that a user may have. */
const NAMELESS = 'user';
const MILLISECOND = 1_000;
const UNIQUE_VIOLATION = '23505';

/** The local users behind the identities of an external issuer. */
@Injectable()
export class ExternalUsers {
  constructor(@InjectDataSource() private readonly database: DataSource) {}

  /** @throws {AuthenticationError} when a user can't be made of the claims */
  async findCaller(claims: VerifiedClaims): Promise<Caller | undefined> {
    const user = (await this.find(claims)) ?? (await this.register(claims));
    if (!user?.active) return undefined;
    const authenticatedAt = (claims.auth_time ?? claims.iat) * MILLISECOND;
    return { id: user.id, roles: user.roles, authenticatedAt };
  }

  private async find({ iss, sub }: VerifiedClaims) {
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
  private async register(claims: VerifiedClaims) {
    const { email } = claims;
    if (typeof email !== 'string' || !isEmailAddress(email)) {
      throw new AuthenticationError('The token names no e-mail address', 'Bearer error="invalid_token"');
    }
    try {
      await this.insert(claims, usernameOf(claims), email);
    } catch (error) {
      const constraint = uniqueConstraintOf(error);
      if (constraint === 'users_email_unique') {
        throw new AuthenticationError('The e-mail address belongs to another user', 'Bearer error="invalid_token"');
      }
      // Another request made the same user in the meantime, or the name is taken: that one gets a suffix.
      if (constraint === 'users_username_unique') await this.insert(claims, suffixed(usernameOf(claims)), email);
      else if (constraint !== 'external_identities_pkey') throw error;
    }
    return this.find(claims);
  }

  private async insert({ iss, sub, name }: VerifiedClaims, username: string, email: string): Promise<void> {
    await this.database.query(
      `WITH made AS (
         INSERT INTO users (username, username_key, email, email_key, name) VALUES ($1, $2, $3, $4, $5) RETURNING id)
       INSERT INTO external_identities (issuer, subject, user_id) SELECT $6, $7, id FROM made`,
      [username, identityKey(username), email, identityKey(email), clean(name ?? '', MAX_NAME) || null, iss, sub],
    );
  }
}

function usernameOf({ preferred_username = '', email = '' }: VerifiedClaims): string {
  const wishes = [preferred_username.replaceAll('@', ''), email.split('@')[0]].map((wish) => clean(wish, MAX_USERNAME));
  const name = wishes.find((wish) => wish !== '' && isRecognisable(wish)) ?? NAMELESS;
  return name.padEnd(MIN_USERNAME, '-');
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

function uniqueConstraintOf(error: unknown): string | undefined {
  if (!(error instanceof QueryFailedError)) return undefined;
  const { code, constraint } = error.driverError as { code?: string; constraint?: string };
  return code === UNIQUE_VIOLATION ? constraint : undefined;
}
