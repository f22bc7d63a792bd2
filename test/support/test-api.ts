import { Role } from '../../src/platform';
import { hashPassword, identityKey, Sessions } from '../../src/platform/accounts';
import { AppClient, Client, useApp } from '../../src/platform/testing';
import { User, UserStatus } from '../../src/resources/users/user.entity';
import { requireAsDocumented } from './contract';
import { type AppOptions, startApp } from './test-app';

export interface TestUser {
  id: number;
  username: string;
  email: string;
  password: string;
  token: string;
  refreshToken: string;
}

/** The running application, and callers of every kind. Each answer is compared with the checked-in document. */
export class TestApi extends AppClient {
  private users = 0;
  private hash: Promise<string> | undefined;

  constructor() {
    super(requireAsDocumented);
  }

  /** A new user who has just signed in. The attributes are set after that, e.g. a suspension. */
  async user(attributes: Partial<User> = {}): Promise<TestUser> {
    const number = ++this.users;
    const password = 'a password of a test';
    const username = attributes.username ?? `user${number}`;
    const email = attributes.email ?? `user${number}@example.com`;
    this.hash ??= hashPassword(password);
    const user = this.repository(User).create({
      username,
      email,
      username_key: identityKey(username),
      email_key: identityKey(email),
      name: null,
      roles: [Role.USER],
      ...attributes,
      status: UserStatus.ACTIVE,
      password_hash: await this.hash,
    });
    await this.repository(User).insert(user);
    const { accessToken, refreshToken } = await this.app.nest.get(Sessions).start(user);
    const { status = UserStatus.ACTIVE } = attributes;
    if (status !== UserStatus.ACTIVE) await this.repository(User).update({ id: user.id }, { status });
    return { id: user.id, username, email, password, token: accessToken, refreshToken };
  }

  admin(attributes: Partial<User> = {}): Promise<TestUser> {
    return this.user({ roles: [Role.USER, Role.ADMIN], ...attributes });
  }
}

/** Starts the application for the tests of a file, and stops it after them. */
export const useTestApi = (options?: AppOptions): TestApi => useApp(new TestApi(), () => startApp(options));

/** Sends requests to another application than that of a {@link TestApi}, and compares its answers in the same way. */
export const clientOf = (base: () => string, headers?: Record<string, string>): Client =>
  new Client(base, headers, requireAsDocumented);
