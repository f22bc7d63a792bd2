import { Injectable } from '@nestjs/common';
import { AuthenticationError } from '../../auth/auth-errors';
import { verifyPassword } from '../../auth/passwords';
import { Sessions, type TokenPair } from '../../auth/sessions';
import { type User, UserStatus } from '../users/user.entity';
import { UsersService } from '../users/users.service';
import { SignInLimits } from './sign-in-limits';
import type { RefreshDto, SignInDto } from './token.dto';

@Injectable()
export class TokensService {
  constructor(
    private readonly users: UsersService,
    private readonly sessions: Sessions,
    private readonly limits: SignInLimits,
  ) {}

  /** @param address of the client */
  async signIn({ username, password }: SignInDto, address: string | undefined): Promise<TokenPair> {
    const attempt = await this.limits.admit(username, address);
    const verified = await verify(await this.users.find(username), password);
    if (!verified || !(await this.limits.accepts(attempt))) {
      await this.limits.failed(attempt);
      throw AuthenticationError.wrongCredentials();
    }
    const pair = await this.sessions.start(verified);
    await this.limits.succeeded(attempt);
    return pair;
  }

  refresh({ refresh_token }: RefreshDto): Promise<TokenPair> {
    return this.sessions.rotate(refresh_token);
  }

  signOut({ refresh_token }: RefreshDto): Promise<void> {
    return this.sessions.end(refresh_token);
  }
}

/** The same work, and the same answer, whether the name, the password or the status is what is wrong. */
async function verify(user: User | null, password: string): Promise<User | undefined> {
  const matches = await verifyPassword(user?.password_hash, password);
  return user && matches && user.status === UserStatus.ACTIVE ? user : undefined;
}
