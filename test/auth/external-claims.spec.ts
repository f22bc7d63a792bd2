import { DataSource } from 'typeorm';
import { IdentityProvider } from '../support/identity-provider';
import { TestApi } from '../support/test-api';
import { startApp } from '../support/test-app';

const HOUR = 3_600;
const now = () => Math.floor(Date.now() / 1_000);

describe('a token that the external issuer has signed', () => {
  const api = new TestApi();
  const provider = new IdentityProvider();
  let made = 0;

  beforeAll(async () => {
    await provider.start();
    const settings = { OIDC_ISSUER: provider.issuer, OIDC_AUDIENCE: 'our-api' };
    api.app = await startApp({ settings });
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
