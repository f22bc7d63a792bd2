import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import { hashPassword } from '../../src/platform/auth/passwords';
import { SecurityEvents } from '../../src/platform/auth/security-events';
import { type Answer, type Client, times, waitFor } from '../../src/platform/testing';
import { User } from '../../src/resources/users/user.entity';
import { type TestUser, useTestApi } from '../support/test-api';

const ADDRESS = '198.51.100.7';
const PASSWORD = 'a password of a test';
const settings = { REDIS_URL: '', TRUST_PROXY: '1', REGISTRATION_RATE_LIMIT: '4', LOGIN_RATE_LIMIT: '2' };

describe('The security events of the log', () => {
  const api = useTestApi({ settings });
  let user: TestUser;
  let admin: TestUser;

  beforeEach(async () => {
    [user, admin] = [await api.user(), await api.admin()];
  });

  /** The events of one request, in their order. */
  async function eventsOf(send: (client: Client) => Promise<Answer>, status: number, caller: Client = api) {
    const request_id = randomUUID();
    const answer = await send(caller.with({ 'X-Request-Id': request_id, 'X-Forwarded-For': `${ADDRESS}:5001` }));
    expect(answer).toMatchObject({ status });
    const lines = () => api.app.log.filter((line) => line.request_id === request_id);
    await waitFor(() => lines().some(({ msg }) => msg === 'request'));
    return lines().filter(({ msg }) => msg === 'security event');
  }
  const signIn = (username: string, password: string) => (client: Client) =>
    client.post('/auth/tokens', { username, password });
  const account = (name: string) => api.app.nest.get(SecurityEvents).pseudonymOf(name);
  const registration = () => {
    const username = `new-${randomUUID().slice(0, 8)}`;
    return { username, email: `${username}@example.com`, password: PASSWORD };
  };
  const idOf = async (username: string) => (await api.repository(User).findOneByOrFail({ username })).id;

  it('tell of a sign-in who and where from, with the id of the request', async () => {
    expect(await eventsOf(signIn(user.username, user.password), 201)).toEqual([
      {
        level: 30,
        time: expect.any(Number),
        pid: process.pid,
        hostname: expect.any(String),
        context: 'Security',
        msg: 'security event',
        event: 'authn_login_success',
        outcome: 'success',
        user_id: user.id,
        target_id: user.id,
        address: ADDRESS,
        request_id: expect.any(String),
      },
    ]);
  });

  it('tell of a failed one whose account it was, by a pseudonym, and of a refused one which limit it was', async () => {
    const name = user.email.toUpperCase();
    const failed = { event: 'authn_login_fail', level: 40, outcome: 'failure', user_id: null, account: account(name) };

    expect(await eventsOf(signIn(name, 'wrong'), 401)).toMatchObject([{ ...failed, target_id: user.id }]);
    expect(await eventsOf(signIn(user.email, 'wrong'), 401)).toMatchObject([{ ...failed, address: ADDRESS }]);
    expect(await eventsOf(signIn(user.email, user.password), 429)).toMatchObject([
      { ...failed, event: 'excess_rate_limit_exceeded', limit: 'sign-in by account_and_address' },
    ]);
    expect(await eventsOf(signIn('nobody at all', 'wrong'), 401)).toMatchObject([
      { event: 'authn_login_fail', target_id: null, account: account('nobody at all') },
    ]);
    expect(account(name)).toMatch(/^[\w-]{43}$/);
    expect(account('nobody at all')).not.toBe(account(name));
  });

  it('tell of a session’s life: renewed, ended, and ended because its token was stolen', async () => {
    const about = { user_id: user.id, target_id: user.id, address: ADDRESS, outcome: 'success' };
    const renew = (refresh_token: string) => (client: Client) => client.put('/auth/tokens', { refresh_token });
    expect(await eventsOf(renew(user.refreshToken), 200)).toMatchObject([{ event: 'session_renewed', ...about }]);
    expect(await eventsOf(renew(user.refreshToken), 401)).toEqual([]);
    await api.app.nest
      .get(DataSource)
      .query(`UPDATE refresh_tokens SET spent_at = spent_at - interval '11 seconds' WHERE spent_at IS NOT NULL`);
    expect(await eventsOf(renew(user.refreshToken), 401)).toMatchObject([
      { event: 'authn_token_reuse', outcome: 'failure', user_id: null, target_id: user.id, address: ADDRESS },
    ]);

    const end = (client: Client) => client.delete('/auth/tokens', { refresh_token: admin.refreshToken });
    expect(await eventsOf(end, 204)).toMatchObject([
      { event: 'authn_token_revoked', ...about, user_id: admin.id, target_id: admin.id },
    ]);
    expect(await eventsOf(end, 401)).toEqual([]);
  });

  it('tell of a registration, once for each key and only if there is one', async () => {
    const input = registration();
    const post = (client: Client) => client.post('/users', input, { 'Idempotency-Key': input.username });
    const created = { event: 'user_created', outcome: 'success', user_id: null, roles: ['USER'], address: ADDRESS };

    expect(await eventsOf(post, 201)).toMatchObject([created]);
    expect(await eventsOf(post, 201)).toEqual([]);
    expect(await eventsOf((client) => client.post('/users', input), 409)).toEqual([]);
    const other = registration();
    const brought = await eventsOf(
      (client) => client.post('/users', { ...other, roles: ['ADMIN'] }),
      201,
      api.as(admin),
    );
    expect(brought).toMatchObject([
      { ...created, user_id: admin.id, target_id: await idOf(other.username), roles: ['ADMIN'] },
    ]);
  });

  it('tell of a registration too many', async () => {
    const register = () => api.post('/users', registration(), { 'X-Forwarded-For': ADDRESS });
    while ((await register()).status === 201);

    expect(await eventsOf((client) => client.post('/users', registration()), 429)).toMatchObject([
      { event: 'excess_rate_limit_exceeded', outcome: 'failure', limit: 'registration by address', address: ADDRESS },
    ]);
  });

  it('tell nothing of what was rolled back with its key', async () => {
    const database = api.app.nest.get(DataSource);
    await database.query(`ALTER TABLE idempotency_keys ADD CONSTRAINT never CHECK (body IS NULL) NOT VALID`);
    try {
      const post = (client: Client) => client.post('/users', registration(), { 'Idempotency-Key': 'rolled back' });
      expect(await eventsOf(post, 400, api.as(admin))).toEqual([]);
    } finally {
      await database.query('ALTER TABLE idempotency_keys DROP CONSTRAINT never');
    }
  });

  it.each<[string, object, object[]]>([
    ['roles', { roles: ['USER', 'ADMIN'] }, [{ event: 'authz_change', roles: ['USER', 'ADMIN'] }]],
    ['status', { status: 'SUSPENDED' }, [{ event: 'user_updated', changed: ['status'], status: 'SUSPENDED' }]],
    ['password', { password: 'another password' }, [{ event: 'authn_password_change' }]],
    [
      'names',
      { username: `n${randomUUID().slice(0, 8)}`, email: `${randomUUID()}@example.com` },
      [{ event: 'user_updated', changed: ['username', 'email'], status: 'ACTIVE' }],
    ],
    ['display name', { name: 'Somebody' }, []],
    ['nothing', { roles: ['USER'], status: 'ACTIVE' }, []],
    [
      'all at once',
      { roles: ['ADMIN'], status: 'SUSPENDED', password: 'another password' },
      [
        { event: 'user_updated', changed: ['status'], status: 'SUSPENDED' },
        { event: 'authn_password_change' },
        { event: 'authz_change', roles: ['ADMIN'] },
      ],
    ],
  ])('tell of a change who changed whom: %s', async (_what, changes, events) => {
    const change = (client: Client) => client.patch(`/users/${user.id}`, changes);
    const about = { outcome: 'success', user_id: admin.id, target_id: user.id, address: ADDRESS };

    expect(await eventsOf(change, 200, api.as(admin))).toMatchObject(events.map((event) => ({ ...about, ...event })));
  });

  it('tell of a deletion, and of none that did not happen', async () => {
    const remove = (client: Client) => client.delete(`/users/${user.id}`);

    expect(await eventsOf(remove, 204, api.as(admin))).toMatchObject([
      { event: 'user_deleted', outcome: 'success', user_id: admin.id, target_id: user.id, address: ADDRESS },
    ]);
    expect(await eventsOf(remove, 404, api.as(admin))).toEqual([]);
  });

  it('tell of refused access to what it was, and with which kind of a token', async () => {
    const refused = { event: 'authz_fail', level: 40, outcome: 'failure', address: ADDRESS };
    const patch = (client: Client) => client.patch(`/users/${admin.id}`, { name: 'x' });
    const place = { method: 'PATCH', route: '/api/users/:id', target: { id: admin.id } };

    expect(await eventsOf(patch, 403, api.as(user))).toMatchObject([
      { ...refused, ...place, status: 403, user_id: user.id },
    ]);
    expect(await eventsOf(patch, 401, api.as({ token: 'forged' }))).toMatchObject([
      { ...refused, ...place, status: 401, user_id: null },
    ]);
    expect(await eventsOf(patch, 401)).toEqual([]);
    const post = (client: Client) => client.post('/products', { name: 'x', price: 1 });
    expect(await eventsOf(post, 403, api.as(user))).toMatchObject([
      { ...refused, route: '/api/products', status: 403 },
    ]);
  });

  it('are none for ordinary requests', async () => {
    for (const path of ['/users', '/users/profile', `/users/${admin.id}`, '/products', '/nothing', '/public']) {
      const status = path === '/nothing' ? 404 : 200;
      expect(await eventsOf((client) => client.get(path), status, api.as(user))).toEqual([]);
    }
  });

  it('hold no secret, no e-mail address and no username', async () => {
    const { username, email, password } = registration();
    await api.repository(User).update(user.id, { username, email, password_hash: await hashPassword(password) });
    await Promise.all(times(2, () => eventsOf((client) => client.get('/users'), 401, api.as({ token: email }))));
    await eventsOf((client) => client.get(`/users/${email}`), 400, api.as(user));
    await eventsOf((client) => client.patch(`/users/${user.id}`, { password: `${password}2` }), 200, api.as(user));
    await eventsOf(signIn(email, password), 401);

    const log = JSON.stringify(api.app.log);
    for (const secret of [username, email, password, user.token, user.refreshToken]) expect(log).not.toContain(secret);
  });
});
