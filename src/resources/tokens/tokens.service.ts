import { Injectable } from '@nestjs/common';
import {
  actsOnItself,
  AuthenticationError,
  SecurityEvents,
  Sessions,
  type TokenPair,
  verifyPassword,
} from '../../platform/accounts';
import { type User, UserStatus } from '../users/user.entity';
import { UsersService } from '../users/users.service';
import { type Attempt, SignInLimits, TooManyFailures } from './sign-in-limits';
import type { CredentialsDto, RefreshDto } from './token.dto';

@Injectable()
export class TokensService {
  constructor(
    private readonly users: UsersService,
    private readonly sessions: Sessions,
    private readonly limits: SignInLimits,
    private readonly events: SecurityEvents,
  ) {}

  /** @param address the address of the client */
  async signIn({ username, password }: CredentialsDto, address: string | undefined): Promise<TokenPair> {
    let user: User | null = null;
    try {
      const attempt = await this.limits.admit(username, address);
      const pair = await this.charged(attempt, async () => {
        user = await this.users.find(username);
        return this.start(user, password, attempt);
      });
      await this.limits.giveBack(attempt);
      this.events.record('authn_login_success', { outcome: 'success', ...actsOnItself(pair.userId) });
      return pair;
    } catch (error) {
      this.recordFailure(error, username, user);
      throw error;
    }
  }

  /**
   * A failure for a reason other than the credentials doesn't count: e.g. the database is away, or too many hashes
   * wait.
   */
  private async charged<T>(attempt: Attempt, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!isRefusal(error)) await this.limits.giveBack(attempt);
      throw error;
    }
  }

  /** A wrong name, a wrong password and a user who may not sign in have the same answer and the same count. */
  private async start(user: User | null, password: string, attempt: Attempt): Promise<TokenPair> {
    const pair = await this.startIfRight(user, password, attempt);
    if (pair) return pair;
    await this.limits.failed(attempt);
    throw AuthenticationError.wrongCredentials();
  }

  private async startIfRight(user: User | null, password: string, attempt: Attempt): Promise<TokenPair | undefined> {
    const matches = await verifyPassword(user?.password_hash, password);
    if (!user || !matches || user.status !== UserStatus.ACTIVE || !(await this.limits.accepts(attempt)))
      return undefined;
    try {
      return await this.sessions.start(user);
    } catch (error) {
      // The account may have changed meanwhile, or may never sign in. The attempt must count, so that this doesn't
      // show.
      if (error instanceof AuthenticationError) return undefined;
      throw error;
    }
  }

  private recordFailure(error: unknown, username: string, user: User | null): void {
    const what = { outcome: 'failure', account: this.events.pseudonymOf(username), target_id: user?.id } as const;
    if (error instanceof AuthenticationError) this.events.record('authn_login_fail', what);
    if (!(error instanceof TooManyFailures)) return;
    this.events.record('excess_rate_limit_exceeded', { ...what, limit: `sign-in by ${error.limit}` });
  }

  refresh({ refresh_token }: RefreshDto): Promise<TokenPair> {
    return this.sessions.rotate(refresh_token);
  }

  signOut({ refresh_token }: RefreshDto): Promise<void> {
    return this.sessions.end(refresh_token);
  }
}

/** True if the error is due to the credentials. */
const isRefusal = (error: unknown): boolean => error instanceof AuthenticationError || error instanceof TooManyFailures;
