import { ForbiddenException, Injectable, type PipeTransform } from '@nestjs/common';
import { Role, Settings, UnitOfWork } from '../../platform';
import { hashPassword } from '../../platform/accounts';
import { NameClaims } from './name-claims';
import type { CreateUserDto } from './user.dto';

/** An input whose password is hashed already. */
export interface Hashed {
  password_hash?: string;
}

/**
 * Admits registrations, limits them by network, and hashes the password. It is a pipe, so that this happens after
 * validation and before the handler: an idempotency key begins its transaction with the handler, and would hold a
 * connection meanwhile.
 */
@Injectable()
export class RegistrationPipe implements PipeTransform<CreateUserDto, Promise<CreateUserDto & Hashed>> {
  constructor(
    private readonly claims: NameClaims,
    private readonly settings: Settings,
  ) {}

  async transform(input: CreateUserDto): Promise<CreateUserDto & Hashed> {
    const { user } = UnitOfWork.current()?.origin ?? {};
    if (!user?.roles.includes(Role.ADMIN)) await this.admit();
    return Object.assign(input, { password_hash: await hashPassword(input.password) });
  }

  /** Only for callers who aren't administrators. Administrators may register any number of users. */
  private async admit(): Promise<void> {
    if (!this.settings.openRegistration) throw registrationClosed();
    await this.claims.register();
  }
}

/** 403 if only administrators and the identity provider may create users. */
export function registrationClosed(): ForbiddenException {
  return new ForbiddenException('Registration is closed: sign in at the identity provider, or ask an administrator');
}
