import { Injectable } from '@nestjs/common';
import { SecurityEvents } from '../../platform/accounts';
import type { User } from './user.entity';

/** The attributes that decide whether and by which names a user signs in. */
const RECORDED = ['username', 'email', 'status'] as const;

/** Records security events about users. */
@Injectable()
export class UserEvents {
  constructor(private readonly events: SecurityEvents) {}

  created({ id, roles }: User): void {
    this.events.record('user_created', { outcome: 'success', target_id: id, roles });
  }

  /** Records one event for each kind of change; none if no recorded attribute has changed. */
  changed(before: User, after: User): void {
    const what = { outcome: 'success', target_id: after.id } as const;
    const { status, roles } = after;
    const changed = RECORDED.filter((name) => before[name] !== after[name]);
    if (changed.length > 0) this.events.record('user_updated', { ...what, changed, status });
    if (before.password_hash !== after.password_hash) this.events.record('authn_password_change', what);
    if (String(before.roles) !== String(roles)) this.events.record('authz_change', { ...what, roles });
  }

  deleted(id: number): void {
    this.events.record('user_deleted', { outcome: 'success', target_id: id });
  }
}
