import { countStatuses, RowLock, times, waitFor } from '../../src/platform/testing';
import { aPost } from '../support/builders';
import { HeldRequest } from '../support/held-request';
import { TestApi } from '../support/test-api';
import { IdentityProvider } from '../support/identity-provider';
import { startApp } from '../support/test-app';

describe('tokens of an external issuer', () => {
  const api = new TestApi();
  const provider = new IdentityProvider();
  const profile = (token: string) => api.as({ token }).get('/users/profile');
  const aToken = (sub: string, claims: object = {}, options = {}) =>
    provider.token(
      { sub, email: `${sub}@corp.example`, email_verified: true, preferred_username: sub, name: 'A Person', ...claims },
      options,
    );

  beforeAll(async () => {
    await provider.start();
    const settings = { OIDC_ISSUER: provider.issuer, OIDC_AUDIENCE: 'our-api' };
    api.app = await startApp({ settings });
  });
  afterAll(async () => {
    await api.app.stop();
    await provider.stop();
  });

  it('make a local user at first sight, and name the same one ever after', async () => {
    const first = await profile(aToken('tim'));
    const again = await profile(aToken('tim', { email: 'other@corp.example' }));

    expect(first).toMatchObject({
      status: 200,
      body: { data: { username: 'tim', email: 'tim@corp.example', name: 'A Person', roles: ['USER'] } },
    });
    expect(again.body.data.id).toBe(first.body.data.id);
  });

  it('make one user of many first requests at once', async () => {
    const answers = await Promise.all(times(20, () => profile(aToken('leslie'))));

    expect(countStatuses(answers)).toEqual({ 200: 20 });
    expect(new Set(answers.map(({ body }) => body.data.id)).size).toBe(1);
  });

  it('find another name when theirs is taken, and never take over an e-mail address', async () => {
    const local = await api.user({ username: 'margaret' });

    const taken = await profile(aToken('margaret'));
    expect(taken.body.data.username).toMatch(/^margaret-[0-9a-f]{6}$/);
    expect(await profile(aToken('thief', { email: local.email }))).toMatchObject({ status: 401 });
  });

  it('need an e-mail address', async () => {
    expect(await profile(aToken('no-mail', { email: undefined }))).toMatchObject({ status: 401 });
    expect(await profile(aToken('bad-mail', { email: 'nonsense' }))).toMatchObject({ status: 401 });
  });

  it('end with the local user', async () => {
    const admin = await api.admin();
    const { id } = (await profile(aToken('mallory'))).body.data;

    await api.as(admin).patch(`/users/${id}`, { status: 'SUSPENDED' });
    expect(await profile(aToken('mallory'))).toMatchObject({ status: 401 });
    await api.as(admin).delete(`/users/${id}`);
    expect(await profile(aToken('mallory'))).toMatchObject({ status: 401 });
  });

  it('end with it while a body is on its way, or its effect waits for a lock', async () => {
    const admin = await api.admin();
    const { id } = (await profile(aToken('late'))).body.data;
    const post = (await api.as({ token: aToken('late') }).post('/posts', aPost())).body.data;
    const held = await HeldRequest.begin(api, aToken('late'), 'POST /api/v1/posts', { body: aPost() });
    const lock = await RowLock.of(api.app.databaseUrl, 'posts', post.id);
    try {
      const waiting = api.as({ token: aToken('late') }).patch(`/posts/${post.id}`, { title: 'Too late' });
      await lock.awaitedBy(1);
      await api.as(admin).patch(`/users/${id}`, { status: 'SUSPENDED' });
      await lock.release();
      expect(await waiting).toMatchObject({ status: 401 });
    } finally {
      await lock.release();
    }
    expect(await held.finish()).toMatchObject({ status: 401 });
    expect((await api.get(`/users/${id}/posts`)).body.data).toEqual([post]);
  });

  it('end with it while a body is on its way', async () => {
    const end = Math.floor(Date.now() / 1_000) + 4;
    const token = aToken('brief', {}, { expiresIn: 3 });
    const held = await HeldRequest.begin(api, token, 'POST /api/v1/posts', { body: aPost() });
    await waitFor(() => Date.now() > end * 1_000);

    expect(await held.finish()).toMatchObject({ status: 401 });
  });

  it('cannot be used to sign in with a password', async () => {
    const { username } = (await profile(aToken('nopass'))).body.data;

    expect(await api.post('/auth/tokens', { username, password: 'whatever it is' })).toMatchObject({ status: 401 });
  });

  it('are refused with another audience, issuer, algorithm or after their time', async () => {
    const wrong = [
      aToken('tim', {}, { audience: 'another-api' }),
      aToken('tim', {}, { audience: 'resource-api' }),
      aToken('tim', {}, { issuer: 'resource-api' }),
      aToken('tim', {}, { issuer: 'http://127.0.0.1:1' }),
      aToken('tim', {}, { expiresIn: -1 }),
      aToken('tim', {}, { keyid: 'unknown' }),
      aToken('tim', {}, { algorithm: 'RS512' }),
    ];

    for (const token of wrong) expect(await profile(token)).toMatchObject({ status: 401 });
  });

  it('leave our own tokens as they were', async () => {
    const user = await api.user();

    expect(await profile(user.token)).toMatchObject({ status: 200 });
  });
});

describe('an external issuer that is away', () => {
  const provider = new IdentityProvider();
  const api = new TestApi();
  afterAll(() => Promise.all([api.app?.stop(), provider.stop()]));

  it('is answered 503, and asked again at the next request', async () => {
    const { issuer } = await provider.start();
    const token = provider.token({ sub: 'patience', email: 'patience@corp.example', email_verified: true });
    await provider.stop();
    api.app = await startApp({ settings: { OIDC_ISSUER: issuer, OIDC_AUDIENCE: 'our-api' } });

    expect(await api.as({ token }).get('/users/profile')).toMatchObject({ status: 503 });
    await provider.start(Number(new URL(issuer).port));
    expect(await api.as({ token }).get('/users/profile')).toMatchObject({ status: 200 });
  });

  it.each(['/.well-known/openid-configuration', '/keys'])('is not waited for when it is silent at %s', async (path) => {
    const silent = new IdentityProvider();
    silent.silentAt = path;
    const { issuer } = await silent.start();
    const waiting = new TestApi();
    waiting.app = await startApp({ settings: { OIDC_ISSUER: issuer, OIDC_AUDIENCE: 'our-api' } });
    try {
      const token = silent.token({ sub: 'patience', email: 'patience@corp.example', email_verified: true });
      const answer = await waiting.as({ token }).get('/users/profile');
      // Not by the time limit of the request, which would have been six times as long.
      expect(answer).toMatchObject({
        status: 503,
        body: { error: { message: expect.stringContaining('unavailable') } },
      });
    } finally {
      await waiting.app.stop();
      await silent.stop();
    }
  });
});
