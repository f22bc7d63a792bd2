import { Injectable } from '@nestjs/common';
import { normalizeIp } from '@nestjs/throttler';
import { AuthenticationError } from '../../auth/auth-errors';
import { verifyPassword } from '../../auth/passwords';
import { Sessions, type TokenPair } from '../../auth/sessions';
import { Settings } from '../../config/settings';
import { ApiError } from '../../conventions/errors/api-error';
import { type Count, type Counter, RateLimits } from '../../conventions/requests/rate-limits';
import { type User, UserStatus } from '../users/user.entity';
import { identityKey } from '../../auth/identity-key';
import { UsersService } from '../users/users.service';
import type { RefreshDto, SignInDto } from './token.dto';

@Injectable()
export class TokensService {
  private readonly failures: Counter;
  private readonly limit: number;

  constructor(
    private readonly users: UsersService,
    private readonly sessions: Sessions,
    limits: RateLimits,
    { LOGIN_RATE_LIMIT, LOGIN_RATE_WINDOW }: Settings,
  ) {
    this.limit = LOGIN_RATE_LIMIT;
    this.failures = limits.counter('sign-in', LOGIN_RATE_LIMIT, LOGIN_RATE_WINDOW);
  }

  /** @param address of the client: failures count for an account and an address together */
  async signIn({ username, password }: SignInDto, address: string): Promise<TokenPair> {
    const user = await this.users.find(username);
    // An account has two names to sign in with; an IPv6 network counts as one address.
    const key = JSON.stringify([user?.id ?? identityKey(username), normalizeIp(address)]);
    this.requireFewer(await this.failures.peek(key), this.limit);
    const verified = await verify(user, password);
    // Counted after the fact and then looked at: of many guesses at once no more than the limit learn anything.
    if (!verified) this.requireFewer(await this.failures.hit(key), this.limit + 1);
    else this.requireFewer(await this.failures.peek(key), this.limit);
    if (!verified) throw AuthenticationError.wrongCredentials();
    return this.sessions.start(verified);
  }

  refresh({ refresh_token }: RefreshDto): Promise<TokenPair> {
    return this.sessions.rotate(refresh_token);
  }

  signOut({ refresh_token }: RefreshDto): Promise<void> {
    return this.sessions.end(refresh_token);
  }

  private requireFewer({ hits, resetsIn }: Count, limit: number): void {
    if (hits >= limit) throw tooManyFailures(resetsIn);
  }
}

/** @param seconds until the next attempt is looked at */
export function tooManyFailures(seconds: number): ApiError {
  return new ApiError('TOO_MANY_REQUESTS', {
    message: 'Too many failed sign-ins, try again later',
    headers: { 'Retry-After': String(seconds) },
  });
}

/** The same work, and the same answer, whether the name, the password or the status is what is wrong. */
async function verify(user: User | null, password: string): Promise<User | undefined> {
  const matches = await verifyPassword(user?.password_hash, password);
  return user && matches && user.status === UserStatus.ACTIVE ? user : undefined;
}
