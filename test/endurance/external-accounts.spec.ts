import type { SignOptions } from 'jsonwebtoken';
import { DataSource } from 'typeorm';
import { IdentityProvider } from '../support/identity-provider';
import { TestApi } from '../support/test-api';
import { startApp } from '../support/test-app';

const now = () => Math.floor(Date.now() / 1_000);

describe('an external issuer whose users', () => {
  const provider = new IdentityProvider();
  const stops: (() => Promise<void>)[] = [];
  beforeAll(() => provider.start());
  afterAll(async () => {
    for (const stop of stops) await stop();
    await provider.stop();
  });

  async function start(settings: Record<string, string> = {}) {
    const api = new TestApi();
    api.app = await startApp({
      settings: { OIDC_ISSUER: provider.issuer, OIDC_AUDIENCE: 'our-api', ...settings },
    });
    stops.unshift(() => api.app.stop());
    const token = (sub: string, claims: object = {}, options: SignOptions = {}) =>
      provider.token(
        { sub, email: `${sub}@corp.example`, email_verified: true, preferred_username: sub, ...claims },
        options,
      );
    const person = async (sub: string, claims: object = {}) => {
      const client = api.as({ token: token(sub, claims) });
      return { client, id: (await client.get('/users/profile')).body.data.id as number };
    };
    return { api, token, person };
  }

  const password = 'a password of their own';

  it('have no password here, by whomever it is set, and can’t sign in with one', async () => {
    const { api, person } = await start();
    const { client, id } = await person('alice', { auth_time: now() });
    const admin = api.as(await api.admin());
    const account = { username: 'alice', email: 'alice@corp.example', password };

    for (const caller of [client, admin]) {
      for (const answer of [
        await caller.patch(`/users/${id}`, { password }),
        await caller.put(`/users/${id}`, account),
      ]) {
        expect(answer).toMatchObject({
          status: 403,
          body: { error: { message: expect.stringContaining('identity provider') } },
        });
      }
    }
    // However it got there.
    const { id: other } = await api.user();
    const database = api.app.nest.get(DataSource);
    await database.query(
      'UPDATE users SET password_hash = (SELECT password_hash FROM users WHERE id = $1) WHERE id = $2',
      [other, id],
    );
    const attempt = { username: 'alice', password: 'a password of a test' };
    expect(await api.post('/auth/tokens', attempt)).toMatchObject({
      status: 401,
      body: { error: { message: 'The credentials are not valid' } },
    });
    expect(await client.patch(`/users/${id}`, { name: 'Alice' })).toMatchObject({ status: 200 });
  });

  it('may have one where OIDC_LOCAL_PASSWORDS says so, after a recent sign-in', async () => {
    const { api, person } = await start({ OIDC_LOCAL_PASSWORDS: 'true' });
    const { client, id } = await person('bob', { auth_time: now() });

    expect(await client.patch(`/users/${id}`, { password })).toMatchObject({ status: 200 });
    expect(await api.post('/auth/tokens', { username: 'bob', password })).toMatchObject({ status: 201 });
  });

  it('have signed in long ago where the issuer doesn’t tell when', async () => {
    const { person } = await start({ OIDC_LOCAL_PASSWORDS: 'true' });
    for (const claims of [{}, { auth_time: null }, { auth_time: now() - 601 }, { auth_time: 0 }]) {
      const { client, id } = await person('carol', claims);
      for (const answer of [
        await client.patch(`/users/${id}`, { password }),
        await client.patch(`/users/${id}`, { email: 'other@corp.example' }),
        await client.delete(`/users/${id}`),
      ]) {
        expect(answer.status).toBe(401);
        expect(answer.headers.get('www-authenticate')).toContain('insufficient_user_authentication');
      }
    }
  });

  it('have addresses that no stranger can take: registration is for administrators', async () => {
    const { api, person, token } = await start();
    const squatter = { username: 'squatter', email: 'dave@corp.example', password };
    const user = await api.user();
    for (const caller of [api, api.as(user)]) {
      expect(await caller.post('/users', squatter)).toMatchObject({
        status: 403,
        body: { error: { code: 'FORBIDDEN', message: expect.stringContaining('Registration is closed') } },
      });
    }
    expect((await person('dave')).id).toBeGreaterThan(0);

    const guest = { ...squatter, email: 'guest@corp.example' };
    expect(await api.as(await api.admin()).post('/users', guest)).toMatchObject({ status: 201 });
    expect(await api.as({ token: token('guest') }).get('/users/profile')).toMatchObject({ status: 401 });
  });

  it('keep the address that the issuer has verified, so that nobody takes another’s; an administrator may free it', async () => {
    const { api, person, token } = await start();
    const { client, id } = await person('ivan', { auth_time: now() });
    const email = 'judy@corp.example';

    for (const answer of [
      await client.patch(`/users/${id}`, { email }),
      await client.put(`/users/${id}`, { username: 'ivan', email }),
    ]) {
      expect(answer).toMatchObject({
        status: 403,
        body: { error: { message: expect.stringContaining('identity provider verifies') } },
      });
    }
    expect(await client.patch(`/users/${id}`, { email: 'ivan@corp.example', username: 'ivan-2' })).toMatchObject({
      status: 200,
    });
    expect((await person('judy')).id).toBeGreaterThan(0);

    const admin = api.as(await api.admin());
    expect(await admin.patch(`/users/${id}`, { email: 'former-ivan@corp.example' })).toMatchObject({ status: 200 });
    const successor = { sub: 'ivan-the-second', email: 'ivan@corp.example' };
    expect(await api.as({ token: token('kim', successor) }).get('/users/profile')).toMatchObject({ status: 200 });
  });

  it.each<[string, Record<string, string>, number]>([
    ['nor do local users take it before its first sign-in', {}, 403],
    ['which local users may take where OPEN_REGISTRATION says so', { OPEN_REGISTRATION: 'true' }, 200],
    ['which local users may take where OIDC_LOCAL_PASSWORDS says so', { OIDC_LOCAL_PASSWORDS: 'true' }, 200],
  ])('have an address of their own: %s', async (_who, settings, status) => {
    const { api, token } = await start(settings);
    const local = await api.user();
    const email = 'oscar@corp.example';

    expect(await api.as(local).patch(`/users/${local.id}`, { email })).toMatchObject({ status });
    expect(await api.as({ token: token('oscar') }).get('/users/profile')).toMatchObject({
      status: status === 403 ? 200 : 401,
    });
  });

  it('may change it where OIDC_LOCAL_PASSWORDS says so, after a recent sign-in', async () => {
    const { person } = await start({ OIDC_LOCAL_PASSWORDS: 'true' });
    const { client, id } = await person('mia', { auth_time: now() });

    expect(await client.patch(`/users/${id}`, { email: 'mia@home.example' })).toMatchObject({ status: 200 });
  });

  it('may be strangers where OPEN_REGISTRATION says so; the log tells of a taken address', async () => {
    const { api, token } = await start({ OPEN_REGISTRATION: 'true' });
    const squatter = { username: 'squatter', email: 'ERIN@corp.example', password };
    const { id } = (await api.post('/users', squatter)).body.data;

    const request_id = 'the-first-of-erin';
    const erin = api.as({ token: token('erin') }).with({ 'X-Request-Id': request_id });
    expect(await erin.get('/users/profile')).toMatchObject({
      status: 401,
      body: { error: { message: 'The e-mail address belongs to another user' } },
    });
    const told = api.app.log.filter(({ event }) => event === 'authn_address_taken');
    const what = { issuer: provider.issuer, subject: 'erin', target_id: id };
    expect(told).toEqual([expect.objectContaining({ ...what, request_id, address: '127.0.0.1' })]);
    expect(JSON.stringify(told)).not.toMatch(/corp\.example"/i);
  });

  it('are told of in the log when they are made, with the request that made them', async () => {
    const { api, token } = await start();
    const request_id = 'the-first-of-nora';
    const nora = api.as({ token: token('nora') }).with({ 'X-Request-Id': request_id });

    const { id } = (await nora.get('/users/profile')).body.data;

    const told = api.app.log.filter(({ event }) => event === 'user_created');
    expect(told).toEqual([expect.objectContaining({ target_id: id, request_id, address: '127.0.0.1' })]);
  });

  it('have addresses to trust where OIDC_TRUST_EMAIL says so, unless a token says that one isn’t', async () => {
    const { api, token } = await start({ OIDC_TRUST_EMAIL: 'true' });
    const ask = (sub: string, claims: object) => api.as({ token: token(sub, claims) }).get('/users/profile');

    expect(await ask('frank', { email_verified: undefined })).toMatchObject({ status: 200 });
    expect(await ask('grete', { email_verified: false })).toMatchObject({ status: 401 });
    expect(await ask('heidi', { email_verified: 'no' })).toMatchObject({ status: 401 });
  });

  it('have tokens that are believed as long as OIDC_TOKEN_MAX_AGE says', async () => {
    const { api, token } = await start({ OIDC_TOKEN_MAX_AGE: '600' });
    const ask = (iat: number) => api.as({ token: token('ivan', { iat }, { expiresIn: '1d' }) }).get('/users/profile');

    expect(await ask(now() - 590)).toMatchObject({ status: 200 });
    expect(await ask(now() - 700)).toMatchObject({ status: 401 });
  });
});
