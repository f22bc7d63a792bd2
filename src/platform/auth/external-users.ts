import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { Settings } from '../config/settings';
import { violatedUniqueConstraint } from '../rows/unique-violation';
import { AuthenticationError } from './auth-errors';
import type { Caller, Role } from './caller';
import { positionFor } from '../replica/positions';
import { isEmailAddress } from '../text/email-address';
import type { Origin } from '../transactions/origin';
import type { ExternalClaims } from './external-claims';
import { SecurityEvents } from './security-events';
import { type Insertion, UserDirectory } from './user-directory';
import { MS_PER_SECOND } from '../units';

interface Found {
  id: number;
  roles: Role[];
  active: boolean;
  position?: number | null;
}

/** Finds or creates the local users behind the identities of an external issuer. */
@Injectable()
export class ExternalUsers {
  constructor(
    @InjectDataSource() private readonly database: DataSource,
    private readonly settings: Settings,
    private readonly events: SecurityEvents,
    private readonly users: UserDirectory,
  ) {}

  /**
   * @param origin the request that brought the claims
   * @throws {AuthenticationError} when no user can be created from the claims
   */
  async findCaller(claims: ExternalClaims, origin: Origin): Promise<Caller | undefined> {
    const user = (await this.find(claims)) ?? (await this.register(claims, origin));
    if (!user?.active) return undefined;
    // The issuer keeps the session, so the token's end is all that a held request can be compared with.
    const isStillGood = () => Promise.resolve(Date.now() < claims.until * MS_PER_SECOND);
    const position = user.position ?? undefined;
    return { id: user.id, roles: user.roles, authenticatedAt: claims.authTime * MS_PER_SECOND, position, isStillGood };
  }

  private async find({ iss, sub }: ExternalClaims) {
    const position = this.settings.DATABASE_REPLICA_URL ? `, ${positionFor('account.id')} AS position` : '';
    const rows = await this.database.query<Found[]>(
      `SELECT account.id, account.roles, account.active${position}
         FROM external_identities JOIN (${this.users.accounts}) AS account ON account.id = user_id
        WHERE issuer = $1 AND subject = $2`,
      [iss, sub],
    );
    return rows[0];
  }

  /**
   * Creates a user. It is never linked to an existing user with the same e-mail address: an attacker could have
   * registered that address first, and would keep a password for the account.
   */
  private async register(claims: ExternalClaims, origin: Origin) {
    const email = this.addressOf(claims);
    const isMade = await this.make(claims, email);
    // A concurrent request may have created the same user.
    const user = await this.find(claims);
    if (user && isMade) {
      this.events.record('user_created', { outcome: 'success', target_id: user.id, roles: user.roles }, origin);
    }
    if (!user) await this.refuseTaken(claims, email, origin);
    return user;
  }

  /** @throws {AuthenticationError} unless the issuer has verified the address */
  private addressOf({ email, emailVerified = this.settings.OIDC_TRUST_EMAIL }: ExternalClaims): string {
    if (email === undefined || !isEmailAddress(email)) {
      throw new AuthenticationError('The token names no e-mail address', 'Bearer error="invalid_token"');
    }
    if (!emailVerified) {
      throw new AuthenticationError('The e-mail address is not verified', 'Bearer error="invalid_token"');
    }
    return email;
  }

  /** Returns false if no username was free, or the identity or the address belongs to another user. */
  private async make({ iss, sub, username, name }: ExternalClaims, email: string): Promise<boolean> {
    for (const insertion of this.users.insertionsOf({ email, username, name })) {
      if (await this.insert(insertion, iss, sub)) return true;
    }
    return false;
  }

  /** One statement inserts the user and its identity, so that neither exists without the other. */
  private async insert({ text, values }: Insertion, iss: string, sub: string): Promise<boolean> {
    const [issuer, subject] = [`$${values.length + 1}`, `$${values.length + 2}`];
    try {
      await this.database.query(
        `WITH made AS (${text})
         INSERT INTO external_identities (issuer, subject, user_id) SELECT ${issuer}, ${subject}, id FROM made`,
        [...values, iss, sub],
      );
      return true;
    } catch (error) {
      if (violatedUniqueConstraint(error) === undefined) throw error;
      return false;
    }
  }

  /** Refuses an address that another user has. Somebody has to decide who owns it, so the log names both. */
  private async refuseTaken({ iss: issuer, sub: subject }: ExternalClaims, email: string, origin: Origin) {
    const holder = await this.users.findByAddress(email);
    if (holder === undefined) return;
    this.events.record('authn_address_taken', { outcome: 'failure', target_id: holder, issuer, subject }, origin);
    throw new AuthenticationError('The e-mail address belongs to another user', 'Bearer error="invalid_token"');
  }
}
