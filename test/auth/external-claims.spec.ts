import type { SignOptions } from 'jsonwebtoken';
import { DataSource } from 'typeorm';
import { IdentityProvider } from '../support/identity-provider';
import { TestApi } from '../support/test-api';
import { TestApp } from '../support/test-app';

const HOUR = 3_600;
const now = () => Math.floor(Date.now() / 1_000);

describe('a token that the external issuer has signed', () => {
  const api = new TestApi();
  const provider = new IdentityProvider();
  let made = 0;

  beforeAll(async () => {
    await provider.start();
    const settings = { OIDC_ISSUER: provider.issuer, OIDC_AUDIENCE: 'our-api' };
    api.app = await TestApp.start({ settings });
  });
  afterAll(async () => {
    await api.app.stop();
    await provider.stop();
  });

  /** The claims of somebody new. */
  const claims = (changes: object = {}) => {
    const sub = `person-${++made}`;
    const person = {
      sub,
      email: `${sub}@corp.example`,
      email_verified: true,
      preferred_username: sub,
      name: 'A Person',
    };
    return { iss: provider.issuer, aud: 'our-api', iat: now(), exp: now() + 60, ...person, ...changes };
  };
  const ask = (payload: object) => api.as({ token: provider.tokenOf(payload) }).get('/users/profile');
  const count = async () =>
    (await api.app.nest.get(DataSource).query<{ n: number }[]>('SELECT count(*)::int AS n FROM users'))[0].n;

  it('is good with the claims that the others are made of', async () => {
    expect(await ask(claims())).toMatchObject({ status: 200 });
    expect(await ask(claims({ iat: now() - 23 * HOUR }))).toMatchObject({ status: 200 });
    expect(await ask(claims({ name: undefined, preferred_username: undefined }))).toMatchObject({ status: 200 });
    expect(await ask(claims({ name: null, preferred_username: null, auth_time: now() }))).toMatchObject({
      status: 200,
    });
    // The clock of another machine.
    expect(await ask(claims({ iat: now() + 30 }))).toMatchObject({ status: 200 });
  });

  it.each<[string, () => object]>([
    ['without exp', () => ({ exp: undefined })],
    ['without iat', () => ({ iat: undefined })],
    [
      'with an iat of a year ago, whatever its exp',
      () => ({ iat: now() - 365 * 24 * HOUR, exp: now() + 365 * 24 * HOUR }),
    ],
    ['with an iat of more than a day ago', () => ({ iat: now() - 25 * HOUR })],
    ['with an iat to come', () => ({ iat: now() + HOUR })],
    ['with an exp that is text', () => ({ exp: String(now() + 60) })],
    ['with an iat that is text', () => ({ iat: String(now()) })],
    ['with an auth_time that is text', () => ({ auth_time: 'now' })],
    ['with an auth_time to come', () => ({ auth_time: now() + HOUR })],
    ['without sub', () => ({ sub: undefined })],
    ['with an empty sub', () => ({ sub: '' })],
    ['with NUL in sub', () => ({ sub: 'a\u0000b' })],
    ['with a lone surrogate in sub', () => ({ sub: 'a\ud800b' })],
    ['with a sub of 256 characters', () => ({ sub: 'x'.repeat(256) })],
    ['with a sub that is a number', () => ({ sub: 5 })],
    ['with a sub that is an object', () => ({ sub: {} })],
    ['with a name that is a number', () => ({ name: 5 })],
    ['with a name that is a list', () => ({ name: ['A'] })],
    ['with a preferred_username that is an object', () => ({ preferred_username: {} })],
    ['with an email that is a list', () => ({ email: ['a@corp.example'] })],
    ['with an email that is an object', () => ({ email: { valueOf: 'a@corp.example' } })],
    ['with an email that is too long', () => ({ email: `${'a'.repeat(64)}@${'b'.repeat(250)}.example` })],
    ['with an e-mail address that is not verified', () => ({ email_verified: false })],
    ['with an e-mail address of which nobody says whether it is', () => ({ email_verified: undefined })],
    ['with an email_verified that is text', () => ({ email_verified: 'true' })],
    ['with an email_verified that is a number', () => ({ email_verified: 1 })],
    ['for another audience in a list', () => ({ aud: ['another-api'] })],
    ['with an audience that is an object', () => ({ aud: { is: 'our-api' } })],
  ])('is 401 %s, and makes no user', async (_name, changes) => {
    const before = await count();

    expect(await ask(claims(changes()))).toMatchObject({ status: 401, body: { error: { code: 'UNAUTHORIZED' } } });
    expect(await count()).toBe(before);
  });

  it('is as strict with somebody who is known, but for the address, which was verified then', async () => {
    const known = claims();
    expect(await ask(known)).toMatchObject({ status: 200 });

    expect(await ask({ ...known, email_verified: false, email: undefined })).toMatchObject({ status: 200 });
    for (const changes of [{ exp: undefined }, { iat: now() - 25 * HOUR }, { name: 5 }]) {
      expect(await ask({ ...known, ...changes })).toMatchObject({ status: 401 });
    }
  });

  it.each<[string, object, object]>([
    [
      'text as long as a header may be',
      { name: 'x'.repeat(5_000), preferred_username: 'y'.repeat(3_000) },
      { name: 'x'.repeat(100), username: 'y'.repeat(20) },
    ],
    ['marks without end', { name: 'a' + '\u0316\u0301'.repeat(1_000) }, { name: null }],
    [
      'characters beyond the BMP',
      { name: '😀'.repeat(300), preferred_username: '😀' },
      { name: '😀'.repeat(100), username: '😀--' },
    ],
    [
      'control characters',
      { name: 'A\u0000B', preferred_username: '\u0007bell\u0000' },
      { name: 'AB', username: 'bell' },
    ],
    ['a username that is an address', { preferred_username: 'jo@corp.example' }, { username: 'jocorp.example' }],
  ])('makes a user that can be of %s', async (_name, changes, expected) => {
    expect(await ask(claims(changes))).toMatchObject({ status: 200, body: { data: expected } });
  });
});

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
    api.app = await TestApp.start({
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
        body: { error: { message: expect.stringContaining('identity provider has verified') } },
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
