import { ForbiddenException, Injectable, type PipeTransform } from '@nestjs/common';
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
 * Says who may register at all, limits registrations by address, and hashes the password: after the validation and before the handler, hence before an
 * idempotency key begins the transaction that would hold a connection meanwhile.
 */
@Injectable()
export class RegistrationPipe implements PipeTransform<CreateUserDto, Promise<CreateUserDto & Hashed>> {
  private readonly registrations: Counter;
  private readonly limit: number;

  constructor(
    limits: RateLimits,
    private readonly events: SecurityEvents,
    private readonly settings: Settings,
  ) {
    const { REGISTRATION_RATE_LIMIT, REGISTRATION_RATE_WINDOW } = settings;
    this.limit = REGISTRATION_RATE_LIMIT;
    this.registrations = limits.counter('registration', REGISTRATION_RATE_LIMIT, REGISTRATION_RATE_WINDOW);
  }

  async transform(input: CreateUserDto): Promise<CreateUserDto & Hashed> {
    const { ip, user } = UnitOfWork.current()?.origin ?? {};
    if (!user?.roles.includes(Role.ADMIN)) await this.requireStrangers(ip);
    return Object.assign(input, { password_hash: await hashPassword(input.password) });
  }

  /** Of administrators nothing is asked, who may bring in as many as they like. @param address of the client */
  private async requireStrangers(address: string | undefined): Promise<void> {
    if (!this.settings.openRegistration) throw registrationClosed();
    const { hits, resetsIn } = await this.registrations.hit(networkOf(address));
    if (hits <= this.limit) return;
    this.events.record('excess_rate_limit_exceeded', { outcome: 'failure', limit: 'registration by address' });
    throw tooManyRegistrations(resetsIn);
  }
}

/** 403 for whoever isn't an administrator, where users are made by administrators and the identity provider alone. */
export function registrationClosed(): ForbiddenException {
  return new ForbiddenException('Registration is closed: sign in at the identity provider, or ask an administrator');
}

/** @param seconds until the next registration is accepted */
export function tooManyRegistrations(seconds: number): ApiError {
  return new ApiError('TOO_MANY_REQUESTS', {
    message: 'Too many registrations from your address, try again later',
    headers: { 'Retry-After': String(seconds) },
  });
}
