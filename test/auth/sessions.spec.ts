import { DataSource } from 'typeorm';
import { hashPassword } from '../../src/platform/auth/passwords';
import { RowLock, times } from '../../src/platform/testing';
import { TestApi, type TestUser, useTestApi } from '../support/test-api';
import { startApp } from '../support/test-app';

const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1], 'base64url').toString());

describe('a session', () => {
  const api = useTestApi();
  const sql = <T>(text: string, values: unknown[]) => api.app.nest.get(DataSource).query<T[]>(text, values);
  const signIn = ({ username, password }: TestUser) => api.post('/auth/tokens', { username, password });
  const refresh = (refresh_token: string) => api.put('/auth/tokens', { refresh_token });
  const statusOf = async (token: string) => (await api.as({ token }).get('/users/profile')).status;
  const tokensOf = ({ id }: TestUser) =>
    sql<{ spent: boolean }>(
      `SELECT spent_at IS NOT NULL AS spent FROM refresh_tokens JOIN sessions ON session_id = sessions.id
        WHERE user_id = $1 ORDER BY spent`,
      [id],
    );
  const sessionsOf = ({ id }: TestUser) =>
    sql<{ id: string }>('SELECT id FROM sessions WHERE user_id = $1 ORDER BY authenticated_at, id', [id]);

  describe('of a sign-in that is on its way', () => {
    it.each<[string, string, (user: TestUser) => Promise<unknown>]>([
      ['a change of the password', 'password_hash = $2', () => hashPassword('another password')],
      ['a suspension', 'status = $2', () => Promise.resolve('SUSPENDED')],
      ['a deletion', 'deleted_at = $2', () => Promise.resolve(new Date())],
    ])('does not begin after %s', async (_name, change, valueFor) => {
      const user = await api.user();
      await sql('DELETE FROM sessions WHERE user_id = $1', [user.id]);
      const value = await valueFor(user);
      // The password has been found right when the sign-in waits for the row that is being changed.
      const lock = await RowLock.of(api.app.databaseUrl, 'users', user.id);
      try {
        const attempts = times(3, () => signIn(user));
        await lock.awaitedBy(3);
        await lock.change(`UPDATE users SET ${change} WHERE id = $1`, [user.id, value]);
        for (const answer of await Promise.all(attempts)) {
          expect(answer).toMatchObject({ status: 401, body: { error: { message: 'The credentials are not valid' } } });
        }
      } finally {
        await lock.release();
      }
      expect(await sessionsOf(user)).toEqual([]);
    });

    it('of many at once with a change of the password, is none of the old password', async () => {
      for (let round = 0; round < 3; round++) {
        const user = await api.user();
        const changed = api.as(user).patch(`/users/${user.id}`, { password: 'another password' });
        const answers = await Promise.all(times(8, () => signIn(user)));
        expect(await changed).toMatchObject({ status: 200 });

        for (const { body } of answers.filter(({ status }) => status === 201)) {
          expect(await statusOf(body.data.access_token)).toBe(401);
          expect(await refresh(body.data.refresh_token)).toMatchObject({ status: 401 });
        }
        expect(await sessionsOf(user)).toEqual([]);
      }
    });
  });

  it('keeps the last two spent refresh tokens, however often it is prolonged', async () => {
    const user = await api.user();
    let token = user.refreshToken;
    for (let round = 0; round < 12; round++) token = (await refresh(token)).body.data.refresh_token;

    expect(await tokensOf(user)).toEqual([{ spent: false }, { spent: true }, { spent: true }]);
    expect(await refresh(token)).toMatchObject({ status: 200 });
  });

  it('ends when a spent refresh token comes back, be it long forgotten', async () => {
    for (const age of [3, 4, 10]) {
      const user = await api.user();
      const tokens = [user.refreshToken];
      for (let round = 0; round < 10; round++) tokens.push((await refresh(tokens.at(-1)!)).body.data.refresh_token);
      const current = tokens.at(-1)!;

      expect(await refresh(tokens.at(-1 - age)!)).toMatchObject({ status: 401 });
      expect(await refresh(current)).toMatchObject({ status: 401 });
      expect(await statusOf(user.token)).toBe(401);
    }
  });

  it('goes on when its client repeats one of the last exchanges, having lost the answer', async () => {
    const user = await api.user();
    const second = (await refresh(user.refreshToken)).body.data.refresh_token;
    const third = (await refresh(second)).body.data.refresh_token;

    expect(await refresh(second)).toMatchObject({ status: 401 });
    expect(await refresh(user.refreshToken)).toMatchObject({ status: 401 });
    expect(await refresh(third)).toMatchObject({ status: 200 });
  });

  it('tells a repetition within ten seconds from a wrong token, and only that', async () => {
    const user = await api.user();
    await refresh(user.refreshToken);
    const told = async (token: string) => {
      const { status, headers, body } = await refresh(token);
      return [status, body.error.code, headers.get('www-authenticate'), body.error.details];
    };
    const reason = 'The refresh token was exchanged within the last 10 seconds';
    const wrong = [401, 'UNAUTHORIZED', 'Bearer', 'The credentials are not valid'];

    expect(await told('A'.repeat(43))).toEqual(wrong);
    expect(await told(user.refreshToken.slice(0, 20) + 'A'.repeat(23))).toEqual(wrong);
    const other = await api.user();
    const next = (await refresh(other.refreshToken)).body.data.refresh_token;
    expect(await told(other.refreshToken)).toEqual([
      401,
      'UNAUTHORIZED',
      `Bearer error_description="${reason}"`,
      `${reason}; use the new tokens`,
    ]);
    expect(await refresh(next)).toMatchObject({ status: 200 });
    await sql("UPDATE refresh_tokens SET spent_at = spent_at - interval '11 seconds' WHERE spent_at IS NOT NULL", []);
    expect(await told(other.refreshToken)).toEqual(wrong);
  });

  it('goes on when somebody sends what was never a refresh token, or another session’s', async () => {
    const [user, other] = [await api.user(), await api.user()];

    for (const token of ['x', 'A'.repeat(43), other.refreshToken.slice(0, 20) + 'A'.repeat(23), 'é'.repeat(43)]) {
      expect(await refresh(token)).toMatchObject({ status: 401 });
    }
    expect(await refresh(user.refreshToken)).toMatchObject({ status: 200 });
  });

  it('that began before refresh tokens had a common beginning is prolonged, and its old tokens known', async () => {
    const user = await api.user();
    await sql('UPDATE sessions SET family_hash = NULL WHERE user_id = $1', [user.id]);

    const next = (await refresh(user.refreshToken)).body.data.refresh_token;
    const last = (await refresh(next)).body.data.refresh_token;
    await sql("UPDATE refresh_tokens SET spent_at = spent_at - interval '11 seconds' WHERE spent_at IS NOT NULL", []);

    expect(await refresh(user.refreshToken)).toMatchObject({ status: 401 });
    expect(await refresh(last)).toMatchObject({ status: 401 });
  });

  it('is one of a hundred at most: with another, the oldest ends', async () => {
    const user = await api.user();
    await sql(
      `INSERT INTO sessions (id, user_id, authenticated_at, expires_at)
       SELECT gen_random_uuid(), $1, now() - make_interval(mins => number), now() + interval '1 day'
         FROM generate_series(1, 120) AS number`,
      [user.id],
    );
    const [newest] = (await sessionsOf(user)).slice(-1);

    const answers = await Promise.all(times(3, () => signIn(user)));

    for (const { status, body } of answers) {
      expect(status).toBe(201);
      expect(await statusOf(body.data.access_token)).toBe(200);
    }
    const left = await sessionsOf(user);
    expect(left).toHaveLength(100);
    expect(left).toContainEqual(newest);
    expect(await statusOf(user.token)).toBe(200);
  });

  it('leaves no expired one of its user behind', async () => {
    const user = await api.user();
    await sql("UPDATE sessions SET expires_at = now() - interval '1 second' WHERE user_id = $1", [user.id]);
    await signIn(user);

    expect(await sessionsOf(user)).toHaveLength(1);
  });
});

describe('the longest session', () => {
  const api = new TestApi();
  const sql = (text: string, values: unknown[]) => api.app.nest.get(DataSource).query<unknown>(text, values);
  const age = ({ id }: TestUser, seconds: number) =>
    sql('UPDATE sessions SET authenticated_at = now() - make_interval(secs => $2) WHERE user_id = $1', [id, seconds]);

  beforeAll(async () => {
    api.app = await startApp({ settings: { SESSION_MAX_AGE: '3600' } });
  });
  afterAll(() => api.app.stop());

  it('ends for good: its tokens are refused, however often it was prolonged', async () => {
    const user = await api.user();
    const { access_token: token, refresh_token } = (await api.put('/auth/tokens', { refresh_token: user.refreshToken }))
      .body.data;
    await age(user, 3_601);

    expect(await api.as({ token }).get('/users/profile')).toMatchObject({ status: 401 });
    expect(await api.put('/auth/tokens', { refresh_token })).toMatchObject({ status: 401 });
  });

  it('gives no token that outlives it, and says so', async () => {
    const user = await api.user();
    await age(user, 3_000);
    const { data } = (await api.put('/auth/tokens', { refresh_token: user.refreshToken })).body;

    for (const seconds of [data.expires_in, data.refresh_expires_in]) {
      expect(seconds).toBeGreaterThan(500);
      expect(seconds).toBeLessThanOrEqual(600);
    }
    const { iat, exp } = claimsOf(data.access_token);
    expect(exp - iat).toBe(data.expires_in);
  });
});
