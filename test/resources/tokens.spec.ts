// First: tests compare times of hashes, and read their costs.
import '../support/costly-hashes';
import { createHmac, createPublicKey, createVerify, type JsonWebKey } from 'node:crypto';
import { DataSource } from 'typeorm';
import { countStatuses, times } from '../../src/platform/testing';
import { UserStatus } from '../../src/resources/users/user.entity';
import { type TestUser, useTestApi } from '../support/test-api';

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const claimsOf = (token: string, index = 1) => JSON.parse(Buffer.from(token.split('.')[index], 'base64url').toString());

describe('/auth/tokens', () => {
  // Without Redis, where other tests count failures as well.
  const api = useTestApi({ settings: { REDIS_URL: '' } });
  const statusOf = async (token: string) => (await api.as({ token }).get('/users/profile')).status;
  const signIn = ({ username, password }: TestUser) => api.post('/auth/tokens', { username, password });
  const sql = (text: string, values: unknown[]) => api.app.nest.get(DataSource).query<unknown>(text, values);

  it('signs in by username or e-mail address, in any case', async () => {
    const user = await api.user();

    for (const username of [user.username, user.username.toUpperCase(), user.email.toUpperCase()]) {
      expect(await api.post('/auth/tokens', { username, password: user.password })).toMatchObject({
        status: 201,
        body: {
          data: {
            access_token: expect.any(String),
            token_type: 'Bearer',
            expires_in: 900,
            refresh_token: expect.stringMatching(/^[\w-]{43}$/),
            refresh_expires_in: 2_592_000,
          },
        },
      });
    }
  });

  it('issues RS256 tokens with all the claims, which others verify by the published key', async () => {
    const user = await api.user();
    const { access_token: token } = (await signIn(user)).body.data;
    const header = claimsOf(token, 0);
    const jwks = (await api.get('//.well-known/jwks.json')).body;
    const key = jwks.keys.find(({ kid }: JsonWebKey) => kid === header.kid);

    expect(header).toMatchObject({ alg: 'RS256', kid: expect.any(String) });
    expect(claimsOf(token)).toEqual({
      iss: 'resource-api',
      aud: 'resource-api',
      sub: String(user.id),
      sid: expect.any(String),
      roles: ['USER'],
      auth_time: expect.any(Number),
      iat: expect.any(Number),
      exp: claimsOf(token).iat + 900,
      jti: expect.any(String),
    });
    const [head, body, signature] = token.split('.');
    const verify = createVerify('RSA-SHA256').update(`${head}.${body}`);
    expect(verify.verify(createPublicKey({ key, format: 'jwk' }), signature, 'base64url')).toBe(true);
    expect(Object.keys(key).sort()).toEqual(['alg', 'e', 'kid', 'kty', 'n', 'use']);
  });

  it('answers a wrong password, an unknown and a suspended user alike', async () => {
    const user = await api.user();
    const suspended = await api.user({ status: UserStatus.SUSPENDED });
    const attempts = [
      { username: user.username, password: 'not the password' },
      { username: 'nobody at all', password: 'not the password' },
      { username: suspended.username, password: suspended.password },
    ];

    const answers = await Promise.all(attempts.map((attempt) => api.post('/auth/tokens', attempt)));

    for (const answer of answers) {
      expect(answer).toMatchObject({ status: 401, body: { error: { code: 'UNAUTHORIZED' } } });
      expect({ ...answer.body.error, timestamp: 0 }).toEqual({ ...answers[0].body.error, timestamp: 0 });
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    }
  });

  it('refuses every token that its own key did not sign for it', async () => {
    const user = await api.user();
    const { access_token: token } = (await signIn(user)).body.data;
    const [head, body, signature] = token.split('.');
    const jwks = (await api.get('//.well-known/jwks.json')).body;
    const pem = createPublicKey({ key: jwks.keys[0], format: 'jwk' }).export({ type: 'spki', format: 'pem' });
    const { kid } = claimsOf(token, 0);
    const hmac = (header: string) => createHmac('sha256', pem).update(`${header}.${body}`).digest('base64url');
    const hs256 = part({ alg: 'HS256', typ: 'JWT', kid });
    const forged = [
      `${part({ alg: 'none', kid })}.${body}.`,
      `${part({ alg: 'none', kid })}.${body}.${signature}`,
      `${hs256}.${body}.${hmac(hs256)}`,
      `${head}.${part({ ...claimsOf(token), sub: '1' })}.${signature}`,
      `${part({ alg: 'RS256', kid: 'another' })}.${body}.${signature}`,
      `${part({ alg: 'RS256' })}.${body}.${signature}`,
      `${head}.${body}`,
      'not-a-token',
      '..',
      token.slice(0, -10),
    ];

    for (const wrong of forged) {
      const answer = await api.as({ token: wrong }).get('/users/profile');
      expect(answer.status).toBe(401);
      expect(answer.headers.get('www-authenticate')).toBe('Bearer error="invalid_token"');
    }
    expect(await statusOf(token)).toBe(200);
    expect((await api.with({ Authorization: `Basic ${token}` }).get('/users/profile')).status).toBe(401);
    expect((await api.with({ Authorization: '' }).get('/users/profile')).status).toBe(401);
  });

  it('rotates a refresh token once, also when two ask at the same time', async () => {
    const user = await api.user();

    const answers = await Promise.all(times(20, () => api.put('/auth/tokens', { refresh_token: user.refreshToken })));

    expect(countStatuses(answers)).toEqual({ 200: 1, 401: 19 });
    const { access_token, refresh_token } = answers.find(({ status }) => status === 200)!.body.data;
    expect(await statusOf(access_token)).toBe(200);
    expect(await statusOf(user.token)).toBe(200);
    expect(await api.put('/auth/tokens', { refresh_token })).toMatchObject({ status: 200 });
  });

  it('keeps the time of the sign-in when it rotates', async () => {
    const user = await api.user();
    const rotated = await api.put('/auth/tokens', { refresh_token: user.refreshToken });

    expect(claimsOf(rotated.body.data.access_token).auth_time).toBe(claimsOf(user.token).auth_time);
  });

  it('ends the session when a spent token comes back after the grace period', async () => {
    const user = await api.user();
    const next = (await api.put('/auth/tokens', { refresh_token: user.refreshToken })).body.data;
    await sql(`UPDATE refresh_tokens SET spent_at = spent_at - interval '11 seconds' WHERE spent_at IS NOT NULL`, []);

    expect(await api.put('/auth/tokens', { refresh_token: user.refreshToken })).toMatchObject({ status: 401 });
    expect(await statusOf(next.access_token)).toBe(401);
    expect(await api.put('/auth/tokens', { refresh_token: next.refresh_token })).toMatchObject({ status: 401 });
  });

  it('refuses an expired refresh token', async () => {
    const user = await api.user();
    await sql(
      'UPDATE refresh_tokens SET expires_at = now() FROM sessions WHERE session_id = sessions.id AND user_id = $1',
      [user.id],
    );

    expect(await api.put('/auth/tokens', { refresh_token: user.refreshToken })).toMatchObject({ status: 401 });
  });

  it('ends a session on sign-out, at the very next request, and no other', async () => {
    const user = await api.user();
    const other = (await signIn(user)).body.data;

    expect(await api.delete('/auth/tokens', { refresh_token: user.refreshToken })).toMatchObject({
      status: 204,
      text: '',
    });
    expect(await statusOf(user.token)).toBe(401);
    expect(await api.delete('/auth/tokens', { refresh_token: user.refreshToken })).toMatchObject({ status: 401 });
    expect(await statusOf(other.access_token)).toBe(200);
  });

  it('stops believing a token when its user is suspended, deleted or gets another password', async () => {
    const admin = await api.admin();
    const [suspended, deleted, changed] = await Promise.all([api.user(), api.user(), api.user()]);

    await api.as(admin).patch(`/users/${suspended.id}`, { status: 'SUSPENDED' });
    await api.as(admin).delete(`/users/${deleted.id}`);
    await api.as(changed).patch(`/users/${changed.id}`, { password: 'another password' });

    for (const user of [suspended, deleted, changed]) {
      expect(await statusOf(user.token)).toBe(401);
      expect(await api.put('/auth/tokens', { refresh_token: user.refreshToken })).toMatchObject({ status: 401 });
      expect(await signIn(user)).toMatchObject({ status: 401 });
    }
    expect(await signIn({ ...changed, password: 'another password' })).toMatchObject({ status: 201 });
    await api.as(admin).patch(`/users/${suspended.id}`, { status: 'ACTIVE' });
    expect(await statusOf(suspended.token)).toBe(401);
  });

  it('gives and takes a role at the very next request', async () => {
    const admin = await api.admin();
    const user = await api.user();
    const seesPrivate = async () => 'email' in (await api.as(user).get(`/users/${admin.id}`)).body.data;

    await api.as(admin).patch(`/users/${user.id}`, { roles: ['USER', 'ADMIN'] });
    expect(await seesPrivate()).toBe(true);
    await api.as(admin).patch(`/users/${user.id}`, { roles: ['USER'] });
    expect(await seesPrivate()).toBe(false);
  });

  it('asks for a new sign-in before it changes a password with an old one', async () => {
    const user = await api.user();
    await sql(`UPDATE sessions SET authenticated_at = now() - interval '601 seconds' WHERE user_id = $1`, [user.id]);

    const answer = await api.as(user).patch(`/users/${user.id}`, { password: 'another password' });

    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toBe(
      'Bearer error="insufficient_user_authentication", max_age="600"',
    );
    expect(await api.as(user).patch(`/users/${user.id}`, { name: 'Still works' })).toMatchObject({ status: 200 });
  });

  it('takes about as long for an unknown user as for a wrong password', async () => {
    const timed = async (username: string) => {
      const start = performance.now();
      await api.post('/auth/tokens', { username, password: 'not the password' });
      return performance.now() - start;
    };
    const median = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
    const known: number[] = [];
    const unknown: number[] = [];
    for (let round = 0; round < 15; round++) {
      const user = await api.user();
      known.push(await timed(user.username));
      unknown.push(await timed(`nobody ${round}`));
    }

    // Hashing is all but everything of it: without it the unknown user would take a tenth.
    expect(median(unknown) / median(known)).toBeGreaterThan(0.5);
    expect(median(unknown) / median(known)).toBeLessThan(2);
  });

  it('tells no more than five of a hundred guesses at once whether they are right', async () => {
    const user = await api.user();
    const guess = (password: string) => api.post('/auth/tokens', { username: user.username, password });

    const answers = await Promise.all(times(100, (index) => guess(`guess ${index}`)));

    expect(countStatuses(answers)).toEqual({ 401: 5, 429: 95 });
    const refused = await guess(user.password);
    expect(refused).toMatchObject({ status: 429, body: { error: { code: 'TOO_MANY_REQUESTS' } } });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(60);
    expect(await guess('another')).toMatchObject({ status: 429 });
    const other = await api.user();
    expect(await signIn(other)).toMatchObject({ status: 201 });
  });

  it('lets many right sign-ins at once pass', async () => {
    const user = await api.user();

    expect(countStatuses(await Promise.all(times(12, () => signIn(user))))).toEqual({ 201: 12 });
  });

  it('ignores a stale access token where none is needed', async () => {
    const user = await api.user();
    const stale = api.as({ token: 'stale' });

    expect(await stale.put('/auth/tokens', { refresh_token: user.refreshToken })).toMatchObject({ status: 200 });
    expect(await stale.post('/auth/tokens', { username: user.username, password: user.password })).toMatchObject({
      status: 201,
    });
  });

  it('keeps no refresh token and no password in clear', async () => {
    const user = await api.user();
    const rows = JSON.stringify(await sql('SELECT * FROM refresh_tokens, users', []));

    expect(rows).not.toContain(user.refreshToken);
    expect(rows).not.toContain(user.password);
    expect(rows).toContain('$argon2id$v=19$m=19456,t=2,p=1$');
  });
});
