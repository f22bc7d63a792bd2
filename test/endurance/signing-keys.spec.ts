import { generateKeyPairSync } from 'node:crypto';
import { TestApi } from '../support/test-api';
import { startApp } from '../support/test-app';

const claimsOf = (token: string, index = 1) => JSON.parse(Buffer.from(token.split('.')[index], 'base64url').toString());

describe('signing keys', () => {
  const pem = () =>
    generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' });
  const stops: (() => Promise<void>)[] = [];
  afterAll(() => Promise.all(stops.map((stop) => stop())));

  async function start(settings: Record<string, string>, databaseUrl?: string) {
    const api = new TestApi();
    api.app = await startApp({ settings, databaseUrl });
    stops.unshift(() => api.app.stop());
    return api;
  }

  it('rotate: a token of the old key is good as long as that key is listed', async () => {
    const [older, newer] = [String(pem()), String(pem())];
    const before = await start({ JWT_PRIVATE_KEY: older });
    const user = await before.user();

    // Passport keeps one strategy for the whole process, so each instance is asked before the next one starts.
    const during = await start({ JWT_PRIVATE_KEY: `${newer}${older}` }, before.app.databaseUrl);
    expect((await during.get('//.well-known/jwks.json')).body.keys).toHaveLength(2);
    expect(await during.as(user).get('/users/profile')).toMatchObject({ status: 200 });

    const after = await start({ JWT_PRIVATE_KEY: newer }, before.app.databaseUrl);
    expect(await after.as(user).get('/users/profile')).toMatchObject({ status: 401 });
  });

  it('may be one HS256 secret, which is not published', async () => {
    const api = await start({ JWT_SECRET: 'a secret of at least thirty-two bytes' });
    const user = await api.user();

    expect(claimsOf(user.token, 0)).toMatchObject({ alg: 'HS256' });
    expect(await api.as(user).get('/users/profile')).toMatchObject({ status: 200 });
    expect((await api.get('//.well-known/jwks.json')).body).toEqual({ keys: [] });
  });

  it('serve one issuer and one audience', async () => {
    const key = String(pem());
    const one = await start({ JWT_PRIVATE_KEY: key, JWT_ISSUER: 'one' });
    const user = await one.user();
    expect(await one.as(user).get('/users/profile')).toMatchObject({ status: 200 });

    for (const claims of [
      { JWT_ISSUER: 'other', JWT_AUDIENCE: 'resource-api' },
      { JWT_ISSUER: 'one', JWT_AUDIENCE: 'other' },
    ]) {
      const other = await start({ JWT_PRIVATE_KEY: key, ...claims }, one.app.databaseUrl);
      expect(await other.as(user).get('/users/profile')).toMatchObject({ status: 401 });
    }
  });

  it('sign tokens that expire', async () => {
    const api = await start({ ACCESS_TOKEN_TTL: '1' });
    const user = await api.user();
    const { exp } = claimsOf(user.token);
    while (Date.now() < exp * 1000) await api.get('//health/live');

    expect(await api.as(user).get('/users/profile')).toMatchObject({ status: 401 });
  });
});
