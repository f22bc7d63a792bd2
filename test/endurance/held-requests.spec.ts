import { DataSource } from 'typeorm';
import { Role } from '../../src/platform/auth/caller';
import { RawConnection, RowLock } from '../../src/platform/testing';
import { UserStatus } from '../../src/resources/users/user.entity';
import { Fixtures } from '../support/fixtures';
import { aNewUser, aPost, aProduct, anOrderOf } from '../support/builders';
import { fingerprintOf } from '../support/fingerprint';
import { type Form, HeldRequest } from '../support/held-request';
import type { PreparedRequest } from '../support/prepared-request';
import { requestOf, routesOf } from '../support/requests';
import { type TestUser, useTestApi } from '../support/test-api';

const BYTES = /\/uploads/;

/** A client decides when its body comes; whoever it is for may have lost its rights by then. */
describe('a request whose body is kept back', () => {
  const api = useTestApi();
  let admin: TestUser;

  beforeAll(async () => {
    admin = await api.admin();
  });

  const begin = (caller: TestUser, route: string, request: PreparedRequest, form?: Form) =>
    HeldRequest.begin(api, caller.token, route, request, form);

  /** What takes rights from a caller, through the API. */
  const losses: [string, (caller: TestUser) => Promise<unknown>][] = [
    ['a sign-out', ({ refreshToken }) => api.delete('/auth/tokens', { refresh_token: refreshToken })],
    ['a suspension', ({ id }) => api.as(admin).patch(`/users/${id}`, { status: UserStatus.SUSPENDED })],
    ['a demotion', ({ id }) => api.as(admin).patch(`/users/${id}`, { roles: [Role.USER] })],
    ['a deletion', ({ id }) => api.as(admin).delete(`/users/${id}`)],
    ['a change of the password', ({ id }) => api.as(admin).patch(`/users/${id}`, { password: 'another password' })],
  ];

  // Bytes of uploads come in pieces, see the tests of uploads.
  const writes = () => {
    const routes = routesOf(api).filter((route) => /^(POST|PUT|PATCH) /.test(route));
    return routes.filter((route) => !route.includes('/auth/tokens') && !BYTES.test(route));
  };

  it.each(losses)('has no effect after %s, on any route that writes', async (_name, lose) => {
    expect(writes().length).toBeGreaterThan(14);
    const held: { route: string; request: HeldRequest; caller: TestUser }[] = [];
    for (const route of writes()) {
      // As an administrator, whom every route lets in.
      const caller = await api.admin();
      const prepared = await requestOf(route, new Fixtures(api, caller));
      held.push({ route, caller, request: await begin(caller, route, prepared) });
    }
    for (const { caller } of held) await lose(caller);
    const before = await fingerprintOf(api);

    for (const { route, request } of held) {
      const { status, headers } = await request.finish();
      expect([route, [401, 403]]).toEqual([route, expect.arrayContaining([status])]);
      if (status === 401) expect(headers['www-authenticate']).toBe('Bearer error="invalid_token"');
    }
    expect(await fingerprintOf(api)).toEqual(before);
  });

  it.each(['as it is', 'chunked', 'compressed'] as const)('is looked at again when it comes %s', async (form) => {
    const [kept, lost] = await Promise.all([api.user(), api.user()]);
    const route = 'POST /api/v1/posts';
    const held = await Promise.all([kept, lost].map((caller) => begin(caller, route, { body: aPost() }, form)));
    await api.delete('/auth/tokens', { refresh_token: lost.refreshToken });

    expect((await Promise.all(held.map((one) => one.finish()))).map(({ status }) => status)).toEqual([201, 401]);
  });

  it('is 403 where the route is not for its caller any more', async () => {
    const caller = await api.admin();
    const request = await begin(caller, 'POST /api/v1/products', { body: aProduct() });
    await api.as(admin).patch(`/users/${caller.id}`, { roles: [Role.USER] });

    expect(await request.finish()).toMatchObject({ status: 403, text: expect.stringContaining('Your role') });
  });

  it('has no effect with an Idempotency-Key either, and leaves no answer to it', async () => {
    const caller = await api.user();
    const headers = { 'Idempotency-Key': 'kept back' };
    const request = await begin(caller, 'POST /api/v1/posts', { body: aPost(), headers });
    await api.delete('/auth/tokens', { refresh_token: caller.refreshToken });
    const before = await fingerprintOf(api);

    expect(await request.finish()).toMatchObject({ status: 401 });
    expect(await fingerprintOf(api)).toEqual(before);
  });

  it('does not undo the suspension of its caller', async () => {
    const caller = await api.user();
    const { id, username, email } = caller;
    const request = await begin(caller, 'PUT /api/v1/users/:id', { ids: [id], body: { username, email, name: 'Me' } });
    await api.as(admin).patch(`/users/${id}`, { status: UserStatus.SUSPENDED });

    expect(await request.finish()).toMatchObject({ status: 401 });
    expect((await api.as(admin).get(`/users/${id}`)).body.data.status).toBe('SUSPENDED');
    expect(await api.post('/auth/tokens', caller)).not.toMatchObject({ status: 201 });
  });

  it('does not undo the demotion of its caller', async () => {
    const caller = await api.admin();
    const body = { roles: [Role.USER, Role.ADMIN] };
    const request = await begin(caller, 'PATCH /api/v1/users/:id', { ids: [caller.id], body });
    await api.as(admin).patch(`/users/${caller.id}`, { roles: [Role.USER] });

    expect(await request.finish()).toMatchObject({ status: 401 });
    expect((await api.as(admin).get(`/users/${caller.id}`)).body.data.roles).toEqual(['USER']);
  });

  it('does not undo a change of the password', async () => {
    const owner = await api.user();
    const { username, password } = owner;
    const { access_token: stolen } = (await api.post('/auth/tokens', { username, password })).body.data;
    const request = await HeldRequest.begin(api, stolen, 'PATCH /api/v1/users/:id', {
      ids: [owner.id],
      body: { password: 'the choice of a thief' },
    });
    await api.as(owner).patch(`/users/${owner.id}`, { password: 'the choice of the owner' });

    expect(await request.finish()).toMatchObject({ status: 401 });
    expect(await api.post('/auth/tokens', { username, password: 'the choice of the owner' })).toMatchObject({
      status: 201,
    });
    expect(await api.post('/auth/tokens', { username, password: 'the choice of a thief' })).toMatchObject({
      status: 401,
    });
  });
});

/** The body is there, but the effect waits for a row that somebody else has locked. */
describe('a request that waits for a lock', () => {
  const api = useTestApi();
  const sql = (text: string, values: unknown[]) => api.app.nest.get(DataSource).query<unknown>(text, values);
  let admin: TestUser;

  beforeAll(async () => {
    admin = await api.admin();
  });

  it('that its guards wait for, and whose body is malformed meanwhile, is 400 and no error of the application', async () => {
    const user = await api.user();
    const lock = await RowLock.ofTable(api.app.databaseUrl, 'sessions');
    const connection = await RawConnection.open(api.app.port);
    const head = ['POST /api/v1/posts HTTP/1.1', 'Host: x', 'Content-Type: application/json'];
    const headers = [`Authorization: Bearer ${user.token}`, 'Transfer-Encoding: chunked'];
    connection.write([...head, ...headers, '', '5', '{"tit', ''].join('\r\n'));
    await lock.awaitedBy(1);
    const answers = await connection.write('ZZ\r\n').allAnswers();
    await lock.release();
    // The first goes on before this one, which needs the same and more.
    expect(await api.as(user).post('/posts', { title: 'One', content: 'One' })).toMatchObject({ status: 201 });

    expect(answers.map(({ status }) => status)).toEqual([400]);
    expect(JSON.stringify(api.app.log)).not.toContain('was read before the service could');
  });

  /** Sends a request, takes the caller's rights while it waits for the row, and lets it go on. */
  async function loseWhileWaiting(
    table: string,
    id: number,
    send: () => Promise<unknown>,
    lose: () => Promise<unknown>,
  ) {
    const lock = await RowLock.of(api.app.databaseUrl, table, id);
    const answer = send();
    try {
      await lock.awaitedBy(1);
      await lose();
    } finally {
      await lock.release();
    }
    return answer;
  }

  const demote = ({ id }: TestUser) => api.as(admin).patch(`/users/${id}`, { roles: [Role.USER] });
  const signOut = ({ refreshToken }: TestUser) => api.delete('/auth/tokens', { refresh_token: refreshToken });

  it.each(['put', 'patch', 'delete'] as const)(
    'has no effect on a product by %s of a former administrator',
    async (method) => {
      const caller = await api.admin();
      const product = await new Fixtures(api, caller).product();
      const body = method === 'delete' ? undefined : aProduct();
      const before = await fingerprintOf(api, ['users']);

      const send = () => api.as(caller)[method](`/products/${product.id}`, body);

      expect(await loseWhileWaiting('products', product.id, send, () => demote(caller))).toMatchObject({ status: 401 });
      expect(await fingerprintOf(api, ['users'])).toEqual(before);
    },
  );

  it('has no effect on a post, a comment or a reply after a sign-out', async () => {
    for (const [noun, table] of Object.entries({ post: 'posts', comment: 'comments', reply: 'replies' } as const)) {
      for (const method of ['patch', 'delete'] as const) {
        const caller = await api.user();
        const row = await new Fixtures(api, caller)[noun as 'post']();
        const send = () =>
          api.as(caller)[method](`/${table}/${row.id}`, method === 'patch' ? { content: 'No.' } : undefined);

        const answer = await loseWhileWaiting(table, row.id, send, () => signOut(caller));

        expect([noun, method, answer]).toEqual([noun, method, expect.objectContaining({ status: 401 })]);
        expect(await sql(`SELECT content FROM ${table} WHERE id = $1`, [row.id])).toEqual([{ content: row.content }]);
      }
    }
  });

  it.each([{}, { 'Idempotency-Key': 'one that waits' }])(
    'takes nothing out of stock after a sign-out, with %j',
    async (headers: object) => {
      const caller = await api.user();
      const product = await new Fixtures(api, caller).product({ stock: 5 });
      const before = await fingerprintOf(api, ['sessions', 'refresh_tokens']);

      const send = () =>
        api
          .as(caller)
          .with({ ...headers })
          .post('/orders', anOrderOf(product));

      expect(await loseWhileWaiting('products', product.id, send, () => signOut(caller))).toMatchObject({
        status: 401,
      });
      expect(await fingerprintOf(api, ['sessions', 'refresh_tokens'])).toEqual(before);
    },
  );

  it('moves no order on for a former administrator', async () => {
    const caller = await api.admin();
    const order = await new Fixtures(api, await api.user()).order();
    const send = () => api.as(caller).patch(`/orders/${order.id}/status`, { status: 'PAID' });

    expect(await loseWhileWaiting('orders', order.id, send, () => demote(caller))).toMatchObject({ status: 401 });
    expect((await api.as(admin).get(`/orders/${order.id}`)).body.data.status).toBe('PENDING');
  });

  it.each([
    [
      'giving roles',
      (friend: TestUser, caller: TestUser) => api.as(caller).patch(`/users/${friend.id}`, { roles: ['ADMIN'] }),
    ],
    [
      'making an administrator',
      (_friend: TestUser, caller: TestUser) => api.as(caller).post('/users', aNewUser({ roles: ['ADMIN'] })),
    ],
    ['deleting', (friend: TestUser, caller: TestUser) => api.as(caller).delete(`/users/${friend.id}`)],
  ])('has no effect for a former administrator: %s', async (_what, send) => {
    const caller = await api.admin();
    const friend = await api.user();
    const users = () => sql('SELECT * FROM users WHERE id <> $1 ORDER BY id', [caller.id]);
    const before = await users();
    const lock = await RowLock.of(api.app.databaseUrl, 'users', caller.id);
    try {
      const answer = send(friend, caller);
      await lock.awaitedBy(1);
      await lock.change("UPDATE users SET roles = '{USER}' WHERE id = $1", [caller.id]);
      expect(await answer).toMatchObject({ status: 401 });
    } finally {
      await lock.release();
    }
    expect(await users()).toEqual(before);
  });
});
