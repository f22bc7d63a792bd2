import { createHmac } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { afterCommit } from '../database/api-data-source';
import type { Origin } from '../transactions/origin';
import { UnitOfWork } from '../transactions/unit-of-work';
import { identityKey } from '../text/identity-key';
import { SigningKeys } from './signing-keys';

/**
 * The events that there are, by their names in OWASP's Logging Vocabulary, and what each tells besides what all tell. Add
 * your own by declaration merging, or a line here. No secret, no e-mail address, no text that a caller wrote.
 */
export interface SecurityEventDetails {
  /** A sign-in. */
  authn_login_success: object;
  /** A wrong name, a wrong password, or a user who may not sign in. */
  authn_login_fail: { account: string };
  /** A new pair of tokens for a refresh token. */
  session_renewed: object;
  /** A refresh token that was spent before: its session was ended. */
  authn_token_reuse: object;
  /** A sign-out. */
  authn_token_revoked: object;
  authn_password_change: object;
  /** The first sign-in of a user of the external issuer, whose e-mail address another user here has: that one is the target. */
  authn_address_taken: { issuer: string; subject: string };
  /** Other roles. */
  authz_change: { roles: string[] };
  /** Refused access: 403, or 401 for a token that isn't good, or not good enough. */
  authz_fail: { status: number; method: string; route: string | null; target?: Record<string, string | number> };
  user_created: { roles: string[] };
  /** Another username, e-mail address or status. */
  user_updated: { changed: string[]; status: string };
  user_deleted: object;
  /** A sign-in or a registration that was not looked at. */
  excess_rate_limit_exceeded: { limit: string; account?: string };
}

/** What every event tells. */
interface Common {
  outcome: 'success' | 'failure';
  /** The user whom it is about, if that is known. */
  target_id?: number | null;
  /** Who did it, where the request doesn't say. */
  user_id?: number;
}

/** Who acts on itself, before the request knows of a user. */
export function itself(id: number): { user_id: number; target_id: number } {
  return { user_id: id, target_id: id };
}

/** Writes one line of the log for each event that whoever watches over the service wants to know of. */
@Injectable()
export class SecurityEvents {
  private readonly logger = new Logger('Security');
  private readonly secret: Buffer;

  constructor(keys: SigningKeys) {
    [this.secret] = keys.derive('security events');
  }

  /**
   * Call it when it has happened. In the transaction of an idempotency key it is written after the commit, and not at all
   * when that fails.
   * @param origin the request; what the current unit of work knows of it when left out
   */
  record<E extends keyof SecurityEventDetails>(
    event: E,
    { outcome, target_id = null, user_id, ...details }: Common & SecurityEventDetails[E],
    origin: Origin | undefined = UnitOfWork.current()?.origin,
  ): void {
    const line = {
      event,
      outcome,
      user_id: user_id ?? origin?.user?.id ?? null,
      target_id,
      address: origin?.ip ?? null,
      request_id: origin?.id ?? null,
      ...details,
    };
    const level = outcome === 'success' ? 'log' : 'warn';
    afterCommit(() => this.logger[level](line, 'security event'));
  }

  /**
   * Stands for the name of an account: the same for the same name, on all instances. Keyed, as whoever reads the log could
   * try all names on a plain hash.
   */
  pseudonymOf(name: string): string {
    return createHmac('sha256', this.secret).update(identityKey(name)).digest('base64url');
  }
}
