import { ForbiddenException, Injectable, type PipeTransform } from '@nestjs/common';
import { hashPassword, Role, Settings, UnitOfWork } from '../../platform';
import { NameClaims } from './name-claims';
import type { CreateUserDto } from './user.dto';

/** What has its password hashed already. */
export interface Hashed {
  password_hash?: string;
}

/**
 * Says who may register at all, limits registrations by network, and hashes the password: after the validation and before
 * the handler, hence before an idempotency key begins the transaction that would hold a connection meanwhile.
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

  /** Not for administrators, who may register as many users as they like. */
  private async admit(): Promise<void> {
    if (!this.settings.openRegistration) throw registrationClosed();
    await this.claims.register();
  }
}

/** 403 for whoever isn't an administrator, where users are made by administrators and the identity provider alone. */
export function registrationClosed(): ForbiddenException {
  return new ForbiddenException('Registration is closed: sign in at the identity provider, or ask an administrator');
}
