import { JwtService } from '@nestjs/jwt';
import fc from 'fast-check';
import { SigningKeys } from '../../src/platform/auth/signing-keys';
import { sendRaw } from '../../src/platform/testing';
import { signedToken } from '../support/signed-token';
import { type TestUser, useTestApi } from '../support/test-api';

const PROFILE = '/api/v1/users/profile';

describe('a token that the service’s own key has signed', () => {
  const api = useTestApi();
  let user: TestUser;
  let other: TestUser;
  let claims: Record<string, unknown>;

  beforeAll(async () => {
    user = await api.user();
    other = await api.user();
    claims = api.app.nest.get(JwtService, { strict: false }).decode(user.token);
  });

  const sign = (payload: object | string) => signedToken(payload, api.app.nest.get(SigningKeys).current);
  const statusOf = async (payload: object | string) =>
    (await api.as({ token: sign(payload) }).get('/users/profile')).status;
  const now = () => Math.floor(Date.now() / 1_000);

  it('is good with the claims of a sign-in, which the others are made of', async () => {
    expect(await statusOf({ ...claims })).toBe(200);
    expect(await statusOf({ ...claims, another: 'claim' })).toBe(200);
  });

  const subjects: [string, unknown][] = [
    ['absent', undefined],
    ['null', null],
    ['empty', ''],
    ['SQL', "1' OR '1'='1"],
    ['thirty digits', '1'.repeat(30)],
    ['zero', '0'],
    ['negative', '-1'],
    ['true', true],
    ['a list', ['1']],
    ['an object', { id: 1 }],
    ['huge', 'x'.repeat(8_000)],
  ];

  it.each(subjects)('is 401 when its sub is %s', async (_name, sub) => {
    expect(await statusOf({ ...claims, sub })).toBe(401);
  });

  it('is 401 when its sub is another user, or its own in another form', async () => {
    for (const sub of [String(other.id), user.id, `0${user.id}`, ` ${user.id}`, `${user.id}.0`, `+${user.id}`]) {
      expect([sub, await statusOf({ ...claims, sub })]).toEqual([sub, 401]);
    }
  });

  it.each(['exp', 'iat', 'sub', 'sid', 'iss', 'aud'])('is 401 without %s', async (name) => {
    expect(await statusOf({ ...claims, [name]: undefined })).toBe(401);
  });

  it('is 401 when a time is no number', async () => {
    for (const name of ['exp', 'iat']) {
      for (const value of [null, true, 'soon', String(now() + 60), [now() + 60], {}]) {
        expect([name, value, await statusOf({ ...claims, [name]: value })]).toEqual([name, value, 401]);
      }
    }
    // JSON can say a number that is none to anybody.
    const text = JSON.stringify({ ...claims, exp: 'LATER' }).replace('"LATER"', '1e999');
    expect(await statusOf(text)).toBe(401);
  });

  it('is 401 when it holds no claims at all', async () => {
    for (const text of ['null', '5', '"text"', '[]', '{}', 'true', '{', '']) {
      expect([text, await statusOf(text)]).toEqual([text, 401]);
    }
  });

  it('is 401 when its header calls an extension critical', async () => {
    for (const crit of [['exp'], ['b64'], [], null, 'exp']) {
      const token = signedToken({ ...claims }, api.app.nest.get(SigningKeys).current, { crit, b64: true });
      expect([crit, (await api.as({ token }).get('/users/profile')).status]).toEqual([crit, 401]);
    }
  });

  it.each<[string, unknown]>([
    ['SQL', "'; DROP TABLE sessions; --"],
    ['no UUID', 'x'],
    ['a number', 5],
    ['a list', ['x']],
    ['NUL', '\u0000'],
    ['of nobody', '00000000-0000-4000-8000-000000000000'],
  ])('is 401 when its sid is %s, and disturbs no other', async (_name, sid) => {
    const [answer, good] = await Promise.all([statusOf({ ...claims, sid }), api.as(user).get('/users/profile')]);

    expect([answer, good.status]).toEqual([401, 200]);
  });

  it('is 401, and never an error of the service, whatever its claims are', async () => {
    const names = ['iss', 'aud', 'sub', 'sid', 'exp', 'iat', 'nbf', 'auth_time', 'jti', 'roles'];
    const strange = fc.oneof(fc.jsonValue(), fc.constantFrom('\u0000', '\ud800', '__proto__', -1, 1e300, 2 ** 53));
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.constantFrom(...names), strange, { minKeys: 1 }), async (changes) => {
        const status = await statusOf({ ...claims, ...changes });
        const decides = Object.keys(changes).some((name) => !['auth_time', 'jti', 'roles'].includes(name));
        expect(decides ? [401, 200] : [200]).toContain(status);
        for (const name of ['sub', 'sid', 'iss', 'exp'].filter((one) => one in changes)) {
          if (changes[name] !== claims[name] && typeof changes[name] !== 'number') expect(status).toBe(401);
        }
      }),
      { numRuns: 150 },
    );
  });

  describe('in Authorization', () => {
    const ask = async (...lines: string[]) => {
      const head = [`GET ${PROFILE} HTTP/1.1`, 'Host: x', 'Connection: close', ...lines].join('\r\n');
      return (await sendRaw(api.app.port, `${head}\r\n\r\n`)).status;
    };

    it.each<[string, (token: string) => string[]]>([
      ['the scheme and the token', (token) => [`Authorization: Bearer ${token}`]],
      ['the scheme in any case', (token) => [`Authorization: bEARER ${token}`]],
      ['several blanks between them', (token) => [`Authorization: Bearer    ${token}`]],
      ['blanks around them', (token) => [`Authorization:   Bearer ${token}  `]],
    ])('is good as %s', async (_name, lines) => {
      // Twice: the second time it is known.
      expect([await ask(...lines(user.token)), await ask(...lines(user.token))]).toEqual([200, 200]);
    });

    it.each<[string, (token: string) => string[]]>([
      ['another word behind it', (token) => [`Authorization: Bearer ${token} x`]],
      ['a comma behind it', (token) => [`Authorization: Bearer ${token},`]],
      ['another scheme behind it', (token) => [`Authorization: Bearer ${token}, Basic eDp5`]],
      ['a word before it', (token) => [`Authorization: x Bearer ${token}`]],
      ['a tab between them', (token) => [`Authorization: Bearer\t${token}`]],
      ['no blank between them', (token) => [`Authorization: Bearer${token}`]],
      ['a parameter', (token) => [`Authorization: Bearer token=${token}`]],
      ['quotes', (token) => [`Authorization: Bearer "${token}"`]],
      ['no token', () => ['Authorization: Bearer']],
      ['no scheme', (token) => [`Authorization: ${token}`]],
      ['another scheme', (token) => [`Authorization: Basic ${token}`]],
      ['itself again', (token) => [`Authorization: Bearer ${token}`, `authorization: Bearer ${token}`]],
      ['another header behind it', (token) => [`Authorization: Bearer ${token}`, 'AUTHORIZATION: Basic eDp5']],
      ['another header before it', (token) => ['Authorization: Basic eDp5', `Authorization: Bearer ${token}`]],
    ])('is 401 with %s', async (_name, lines) => {
      expect(await ask(`Authorization: Bearer ${user.token}`)).toBe(200);
      expect([await ask(...lines(user.token)), await ask(...lines(user.token))]).toEqual([401, 401]);
    });
  });
});
