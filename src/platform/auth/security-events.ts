import { createHmac } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { afterCommit } from '../database/api-data-source';
import type { Origin } from '../transactions/origin';
import { UnitOfWork } from '../transactions/unit-of-work';
import { identityKey } from '../text/identity-key';
import { counter } from '../signals/measure';
import { rateLimited } from '../signals/operations';
import { AuditTrail } from './audit-trail';
import { SigningKeys } from './signing-keys';

/**
 * The security events, named as in OWASP's Logging Vocabulary, and the details of each beside the common ones. Add your
 * own by declaration merging or by a line here. Details contain no secret, no e-mail address, and no text that a caller
 * wrote.
 */
export interface SecurityEventDetails {
  /** A sign-in. */
  authn_login_success: object;
  /** A wrong username, a wrong password, or a user who may not sign in. */
  authn_login_fail: { account: string };
  /** A new pair of tokens for a refresh token. */
  session_renewed: object;
  /** A spent refresh token was used again. Its session was ended. */
  authn_token_reuse: object;
  /** A sign-out. */
  authn_token_revoked: object;
  authn_password_change: object;
  /**
   * The first sign-in of a user of the external issuer, whose e-mail address belongs to another user. That user is the
   * target.
   */
  authn_address_taken: { issuer: string; subject: string };
  /** A change of a user's roles. */
  authz_change: { roles: string[] };
  /** Refused access: 403, or 401 for a token that is invalid or not sufficient. */
  authz_fail: { status: number; method: string; route: string | null; target?: Record<string, string | number> };
  user_created: { roles: string[] };
  /** A change of username, e-mail address or status. */
  user_updated: { changed: string[]; status: string };
  user_deleted: object;
  /** A sign-in, a registration or a write that was refused by a rate limit, without checking it. */
  excess_rate_limit_exceeded: { limit: string; account?: string };
}

/** Rare events that operators want to hear of at once, and failed sign-ins. */
const ALARMING = ['authn_token_reuse', 'authn_address_taken', 'authn_login_fail', 'authz_fail'];

const counted = counter(
  'api_security_events_total',
  'Security events, by their names in the log.',
  ['event', 'outcome'],
  [{ event: 'authn_login_success', outcome: 'success' }, ...ALARMING.map((event) => ({ event, outcome: 'failure' }))],
);

/** Events that the changed row leaves in the audit, in the transaction of the change. */
const OF_ROWS: readonly string[] = [
  'user_created',
  'user_updated',
  'user_deleted',
  'authn_password_change',
  'authz_change',
  'session_renewed',
];

/** The details that every event has. */
interface Common {
  outcome: 'success' | 'failure';
  /** The id of the user that the event is about, if it is known. */
  target_id?: number | null;
  /** The id of the user who acted, if the request doesn't name it. */
  user_id?: number;
}

/** The details of a user who acts on its own account, before the request knows its caller. */
export function actsOnItself(id: number): { user_id: number; target_id: number } {
  return { user_id: id, target_id: id };
}

const isOfLimit = (details: object): details is { limit: string } => 'limit' in details;

/** Writes one log line, and a row of the audit, for each event that matters to those who monitor the service. */
@Injectable()
export class SecurityEvents {
  private readonly logger = new Logger('Security');
  private readonly secret: Buffer;

  constructor(
    keys: SigningKeys,
    private readonly trail: AuditTrail,
  ) {
    [this.secret] = keys.derive('security events');
  }

  /**
   * Records an event that has happened. Within the transaction of an idempotency key, the line is written after the
   * commit, and not at all if the commit fails.
   * @param origin the request. Default: the request of the current unit of work
   */
  record<E extends keyof SecurityEventDetails>(
    event: E,
    { outcome, target_id = null, user_id, ...details }: Common & SecurityEventDetails[E],
    origin: Origin | undefined = UnitOfWork.current()?.origin,
  ): void {
    const who = {
      user_id: user_id ?? origin?.user?.id ?? null,
      address: origin?.ip ?? null,
      request_id: origin?.id ?? null,
      trace_id: origin?.traceId,
    };
    const what = { outcome, target_id, ...details };
    const level = outcome === 'success' ? 'log' : 'warn';
    afterCommit(() => {
      this.logger[level]({ event, ...who, ...what }, 'security event');
      counted.add({ event, outcome });
      if (isOfLimit(details)) rateLimited.add({ limit: details.limit });
      if (!OF_ROWS.includes(event)) this.trail.add({ ...who, action: event.toUpperCase(), details: what });
    });
  }

  /**
   * A pseudonym for an account name: the same name has the same pseudonym on all instances. It is keyed, because a
   * reader of the log could test all names against a plain hash.
   */
  pseudonymOf(name: string): string {
    return createHmac('sha256', this.secret).update(identityKey(name)).digest('base64url');
  }
}
