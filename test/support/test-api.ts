import { DataSource, type EntityTarget, type ObjectLiteral, type Repository } from 'typeorm';
import { Role } from '../../src/platform/auth/caller';
import { hashPassword } from '../../src/platform/auth/passwords';
import { Sessions } from '../../src/platform/auth/sessions';
import { User, UserStatus } from '../../src/resources/users/user.entity';
import { identityKey } from '../../src/platform/text/identity-key';
import { requireAsDocumented } from './contract';
import { TestApp, type TestAppOptions } from './test-app';

export interface Answer {
  status: number;
  headers: Headers;
  /** Parsed JSON, otherwise text. */
  body: any; // eslint-disable-line @typescript-eslint/no-explicit-any
  text: string;
}

export interface TestUser {
  id: number;
  username: string;
  email: string;
  password: string;
  token: string;
  refreshToken: string;
}

type Headers_ = Record<string, string>;

/** Sends requests as one caller. */
export class Client {
  constructor(
    private readonly base: () => string,
    private readonly headers: Headers_ = {},
  ) {}

  get = (path: string, headers?: Headers_) => this.send('GET', path, undefined, headers);
  head = (path: string, headers?: Headers_) => this.send('HEAD', path, undefined, headers);
  options = (path: string, headers?: Headers_) => this.send('OPTIONS', path, undefined, headers);
  post = (path: string, body?: unknown, headers?: Headers_) => this.send('POST', path, body, headers);
  put = (path: string, body?: unknown, headers?: Headers_) => this.send('PUT', path, body, headers);
  patch = (path: string, body?: unknown, headers?: Headers_) => this.send('PATCH', path, body, headers);
  delete = (path: string, body?: unknown, headers?: Headers_) => this.send('DELETE', path, body, headers);

  with(headers: Headers_): Client {
    return new Client(this.base, { ...this.headers, ...headers });
  }

  /** A client with further headers. The caller's own headers take precedence. */
  preferring(headers: Headers_): Client {
    return new Client(this.base, { ...headers, ...this.headers });
  }

  /**
   * Sends a request. Paths are relative to /api/v1, unless they start with two slashes, which stand for the root.
   * @throws Error for an answer that differs from the checked-in document
   */
  async send(method: string, path: string, body?: unknown, headers: Headers_ = {}): Promise<Answer> {
    const url = path.startsWith('//') ? this.base() + path.slice(1) : `${this.base()}/api/v1${path}`;
    const raw = typeof body === 'string' || body instanceof Uint8Array;
    const sent = { ...(body !== undefined && { 'Content-Type': 'application/json' }), ...this.headers, ...headers };
    const response = await fetch(url, {
      method,
      redirect: 'manual',
      headers: sent,
      body: body === undefined ? undefined : raw ? (body as string) : JSON.stringify(body),
    });
    const text = await response.text();
    const json = response.headers.get('content-type')?.includes('json') && text !== '';
    const answer = { status: response.status, headers: response.headers, text, body: json ? JSON.parse(text) : text };
    requireAsDocumented({ method, url: new URL(url), headers: sent }, answer);
    return answer;
  }
}

/** The running application, and callers of every kind. */
export class TestApi extends Client {
  app: TestApp;
  private users = 0;
  private hash: Promise<string> | undefined;

  constructor() {
    super(() => this.url);
  }

  get url(): string {
    return `http://127.0.0.1:${this.app.port}`;
  }

  repository<E extends ObjectLiteral>(entity: EntityTarget<E>): Repository<E> {
    return this.app.nest.get(DataSource).getRepository(entity);
  }

  as({ token }: { token: string }): Client {
    return this.with({ Authorization: `Bearer ${token}` });
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
export function useTestApi(options?: TestAppOptions): TestApi {
  const api = new TestApi();
  beforeAll(async () => {
    api.app = await TestApp.start(options);
  });
  afterAll(() => api.app?.stop());
  return api;
}

export function times<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

export function atOnce<T>(list: readonly T[], work: (one: T) => Promise<unknown>): Promise<unknown> {
  return Promise.all(list.map(work));
}

/** The number of answers of each status. */
export function countStatuses(answers: { status: number }[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}
