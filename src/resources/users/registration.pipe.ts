import { Injectable, type PipeTransform } from '@nestjs/common';
import { Role } from '../../auth/caller';
import { hashPassword } from '../../auth/passwords';
import { SecurityEvents } from '../../auth/security-events';
import { Settings } from '../../config/settings';
import { ApiError } from '../../conventions/errors/api-error';
import { networkOf } from '../../conventions/requests/client-address';
import { type Counter, RateLimits } from '../../conventions/requests/rate-limits';
import { UnitOfWork } from '../../database/unit-of-work';
import type { CreateUserDto } from './user.dto';

/** What has its password hashed already. */
export interface Hashed {
  password_hash?: string;
}

/**
 * Limits registrations by address, and hashes the password: after the validation and before the handler, hence before an
 * idempotency key begins the transaction that would hold a connection meanwhile.
 */
@Injectable()
export class RegistrationPipe implements PipeTransform<CreateUserDto, Promise<CreateUserDto & Hashed>> {
  private readonly registrations: Counter;
  private readonly limit: number;

  constructor(
    limits: RateLimits,
    private readonly events: SecurityEvents,
    { REGISTRATION_RATE_LIMIT, REGISTRATION_RATE_WINDOW }: Settings,
  ) {
    this.limit = REGISTRATION_RATE_LIMIT;
    this.registrations = limits.counter('registration', REGISTRATION_RATE_LIMIT, REGISTRATION_RATE_WINDOW);
  }

  async transform(input: CreateUserDto): Promise<CreateUserDto & Hashed> {
    await this.requireFew();
    return Object.assign(input, { password_hash: await hashPassword(input.password) });
  }

  /** Administrators may bring in as many as they like. */
  private async requireFew(): Promise<void> {
    const { ip, user } = UnitOfWork.current()?.origin ?? {};
    if (user?.roles.includes(Role.ADMIN)) return;
    const { hits, resetsIn } = await this.registrations.hit(networkOf(ip));
    if (hits <= this.limit) return;
    this.events.record('excess_rate_limit_exceeded', { outcome: 'failure', limit: 'registration by address' });
    throw tooManyRegistrations(resetsIn);
  }
}

/** @param seconds until the next registration is accepted */
export function tooManyRegistrations(seconds: number): ApiError {
  return new ApiError('TOO_MANY_REQUESTS', {
    message: 'Too many registrations from your address, try again later',
    headers: { 'Retry-After': String(seconds) },
  });
}
