import { DataSource } from 'typeorm';
import { Role } from '../../src/platform';
import { type Answer, expectError, RowLock } from '../../src/platform/testing';
import { UserStatus } from '../../src/resources/users/user.entity';
import { aNewUser } from '../support/builders';
import { TestApi, type TestUser, useTestApi } from '../support/test-api';

const TOO_OLD = 'Bearer error="insufficient_user_authentication", max_age="600"';

describe('what a user is replaced with', () => {
  const api = useTestApi();
  let admin: TestUser;

  beforeAll(async () => {
    admin = await api.admin();
  });

  const stored = async (id: number) => {
    const text = 'SELECT username, email, name, status, roles, password_hash FROM users WHERE id = $1';
    return (await api.app.nest.get(DataSource).query<Record<string, unknown>[]>(text, [id]))[0];
  };

  /** All that a PUT may hold besides what it must, and whether it is for administrators alone. */
  const attributes: [string, unknown, boolean][] = [
    ['name', 'Another', false],
    ['password', 'another password', false],
    ['status', UserStatus.SUSPENDED, true],
    ['roles', [Role.USER, Role.ADMIN], true],
  ];
  const callers = ['the user itself', 'an administrator'] as const;
  const states = { suspended: { status: UserStatus.SUSPENDED }, anAdministrator: { roles: [Role.USER, Role.ADMIN] } };

  it.each(callers.flatMap((caller) => attributes.map(([name, value, alone]) => [caller, name, value, alone] as const)))(
    'by %s: %s is written when it is there and allowed, and no other attribute with it',
    async (caller, name, value, forAdministratorsAlone) => {
      const user = await api.user({ name: 'Before' });
      const before = await stored(user.id);
      const body = { username: user.username, email: user.email, name: 'Before', [name]: value };

      const isSelf = caller === 'the user itself';
      const answer = await api.as(isSelf ? user : admin).put(`/users/${user.id}`, body);

      const after = await stored(user.id);
      if (isSelf && forAdministratorsAlone) {
        expectError(answer, 'FORBIDDEN');
        return void expect(after).toEqual(before);
      }
      expect(answer).toMatchObject({ status: 200 });
      const column = name === 'password' ? 'password_hash' : name;
      expect(after[column]).not.toEqual(before[column]);
      expect({ ...after, [column]: 0 }).toEqual({ ...before, [column]: 0 });
    },
  );

  it.each(callers)('by %s: status, roles and password that are left out stay', async (caller) => {
    for (const state of Object.values(states)) {
      const user = await api.user({ ...state, name: 'Before' });
      const before = await stored(user.id);
      const isSelf = caller === 'the user itself';
      // A suspended user can't ask.
      if (isSelf && 'status' in state) continue;

      const { username, email } = user;
      const answer = await api.as(isSelf ? user : admin).put(`/users/${user.id}`, { username, email });

      expect(answer).toMatchObject({ status: 200, body: { data: { name: null, ...state } } });
      expect(await stored(user.id)).toEqual({ ...before, name: null });
    }
  });

  it('does not undo a suspension of the same moment', async () => {
    const { id, username, email } = await api.user();
    const lock = await RowLock.of(api.app.databaseUrl, 'users', id);
    try {
      const answer = api.as(admin).put(`/users/${id}`, { username, email });
      await lock.awaitedBy(1);
      await lock.change("UPDATE users SET status = 'SUSPENDED' WHERE id = $1", [id]);
      expect(await answer).toMatchObject({ status: 200, body: { data: { status: 'SUSPENDED' } } });
    } finally {
      await lock.release();
    }
  });
});

describe('what needs a recent sign-in', () => {
  const api = useTestApi();
  let admin: TestUser;

  beforeAll(async () => {
    admin = await api.admin();
  });

  /** Somebody who signed in so many seconds ago. */
  async function signedIn(ago: number, make: () => Promise<TestUser>): Promise<TestUser> {
    const user = await make();
    const text = 'UPDATE sessions SET authenticated_at = now() - make_interval(secs => $2) WHERE user_id = $1';
    await api.app.nest.get(DataSource).query(text, [user.id, ago]);
    return user;
  }

  const sensitive: [string, (client: ReturnType<TestApi['as']>, user: TestUser) => Promise<Answer>][] = [
    ['PATCH of the username', (client, { id }) => client.patch(`/users/${id}`, { username: `renamed-${id}` })],
    [
      'PATCH of the spelling of the username',
      (client, { id, username }) => client.patch(`/users/${id}`, { username: username.toUpperCase() }),
    ],
    [
      'PATCH of the e-mail address',
      (client, { id }) => client.patch(`/users/${id}`, { email: `moved-${id}@example.com` }),
    ],
    ['PATCH of the password', (client, { id }) => client.patch(`/users/${id}`, { password: 'another password' })],
    ['PUT of the username', (client, { id, email }) => client.put(`/users/${id}`, { username: `put-${id}`, email })],
    [
      'PUT of the e-mail address',
      (client, { id, username }) => client.put(`/users/${id}`, { username, email: `put-${id}@example.com` }),
    ],
    ['DELETE', (client, { id }) => client.delete(`/users/${id}`)],
  ];

  it.each(sensitive)('is %s, by the user itself and by an administrator', async (_name, change) => {
    const user = await api.user();
    const old = await signedIn(601, () => api.user());
    const oldAdmin = await signedIn(601, () => api.admin());
    const before = await api.as(admin).get(`/users/${user.id}`);

    for (const answer of [await change(api.as(old), old), await change(api.as(oldAdmin), user)]) {
      expect(answer).toMatchObject({ status: 401, body: { error: { message: 'Sign in again to do this' } } });
      expect(answer.headers.get('www-authenticate')).toBe(TOO_OLD);
    }
    expect((await api.as(admin).get(`/users/${user.id}`)).body.data).toEqual(before.body.data);

    const fresh = await signedIn(590, () => api.user());
    expect([200, 204]).toContain((await change(api.as(fresh), fresh)).status);
    expect([200, 204]).toContain((await change(api.as(admin), user)).status);
  });

  const raises: [string, object, (client: ReturnType<TestApi['as']>, user: TestUser) => Promise<Answer>][] = [
    ['PATCH that adds a role', {}, (client, { id }) => client.patch(`/users/${id}`, { roles: ['USER', 'ADMIN'] })],
    [
      'PUT that adds a role',
      {},
      (client, { id, username, email }) => client.put(`/users/${id}`, { username, email, roles: ['ADMIN'] }),
    ],
    [
      'PATCH that ends a suspension',
      { status: 'SUSPENDED' },
      (client, { id }) => client.patch(`/users/${id}`, { status: 'ACTIVE' }),
    ],
    [
      'PUT that ends a suspension',
      { status: 'SUSPENDED' },
      (client, { id, username, email }) => client.put(`/users/${id}`, { username, email, status: 'ACTIVE' }),
    ],
    ['POST of a user with another role', {}, (client) => client.post('/users', aNewUser({ roles: ['USER', 'ADMIN'] }))],
    [
      'POST, with a key, of a user with another role',
      {},
      (client, { id }) => client.post('/users', aNewUser({ roles: ['ADMIN'] }), { 'Idempotency-Key': `raised-${id}` }),
    ],
  ];

  it.each(raises)('is %s, which gives rights', async (_name, state, change) => {
    const user = await api.user();
    await api.as(admin).patch(`/users/${user.id}`, state);
    const oldAdmin = await signedIn(601, () => api.admin());
    const all = async () => (await api.as(admin).get('/users?size=100')).body.data as unknown;
    const before = await all();

    const refused = await change(api.as(oldAdmin), user);
    expect(refused).toMatchObject({ status: 401, body: { error: { message: 'Sign in again to do this' } } });
    expect(refused.headers.get('www-authenticate')).toBe(TOO_OLD);
    expect(await all()).toEqual(before);

    expect([200, 201]).toContain((await change(api.as(admin), user)).status);
  });

  it('is neither what takes rights nor a new user who has no more than a stranger would get', async () => {
    const oldAdmin = api.as(await signedIn(100_000, () => api.admin()));
    const [other, user] = [await api.admin(), await api.user()];
    const given = { roles: ['USER'], status: 'ACTIVE' };

    for (const answer of [
      await oldAdmin.patch(`/users/${other.id}`, { roles: ['USER'], status: 'ACTIVE' }),
      await oldAdmin.patch(`/users/${user.id}`, { status: 'SUSPENDED', roles: ['USER'] }),
      await oldAdmin.post('/users', aNewUser(given)),
      await oldAdmin.post('/users', aNewUser({ status: 'SUSPENDED' })),
    ]) {
      expect([200, 201]).toContain(answer.status);
    }
  });

  it('is a role that the user has no longer when the change is made', async () => {
    const other = await api.admin();
    const oldAdmin = await signedIn(601, () => api.admin());
    const lock = await RowLock.of(api.app.databaseUrl, 'users', other.id);
    try {
      const answer = api.as(oldAdmin).patch(`/users/${other.id}`, { roles: ['USER', 'ADMIN'] });
      await lock.awaitedBy(1);
      await lock.change("UPDATE users SET roles = '{USER}' WHERE id = $1", [other.id]);
      expect(await answer).toMatchObject({ status: 401 });
    } finally {
      await lock.release();
    }
    expect((await api.as(admin).get(`/users/${other.id}`)).body.data.roles).toEqual(['USER']);
  });

  it('is nothing that leaves the names to sign in with as they are', async () => {
    const old = await signedIn(100_000, () => api.user());
    const oldAdmin = await signedIn(100_000, () => api.admin());
    const { id, username, email } = old;

    expect(await api.as(old).put(`/users/${id}`, { username, email, name: 'New' })).toMatchObject({ status: 200 });
    expect(await api.as(old).patch(`/users/${id}`, { username, name: 'Newer' })).toMatchObject({ status: 200 });
    // Whoever has to stop somebody is not to be stopped by this.
    expect(await api.as(oldAdmin).patch(`/users/${id}`, { status: 'SUSPENDED' })).toMatchObject({ status: 200 });
  });
});
