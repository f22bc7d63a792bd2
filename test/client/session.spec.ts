import { times } from '../../src/platform/testing';
import { builtClient } from '../support/client';
import { useGateway } from '../support/gateway';
import { type TestUser, useTestApi } from '../support/test-api';

const { createClient, memoryStore, webStore } = builtClient();
const QUICK = { firstDelay: 1, longestDelay: 5 };
const EXCHANGE = 'PUT /auth/tokens';

/** Storage of a browser, which all its tabs share. */
class TestStorage {
  private readonly texts = new Map<string, string>();
  getItem = (key: string) => this.texts.get(key) ?? null;
  setItem = (key: string, text: string) => void this.texts.set(key, text);
  removeItem = (key: string) => void this.texts.delete(key);
}

describe('A session of the client', () => {
  // Without Redis, where other tests count failures as well.
  const api = useTestApi({ settings: { REDIS_URL: '' } });
  const gateway = useGateway(() => api.url);
  let user: TestUser;

  beforeEach(async () => {
    user = await api.user();
  });

  const clientWith = (store: unknown, options: object = {}) =>
    createClient({ url: gateway.url, store, retry: QUICK, ...options });
  /** Tokens whose access token has ended by the clock of the client, or in the eyes of the service. */
  const ended = () => ({ accessToken: user.token, accessExpiresAt: 0, refreshToken: user.refreshToken });
  const refused = () => ({ ...ended(), accessToken: 'no longer valid', accessExpiresAt: Infinity });
  const exchanges = () => gateway.asked.filter((one) => one === EXCHANGE).length;
  const profile = (client: ReturnType<typeof createClient>) => client.GET('/users/profile');

  it('begins with a password, and ends at the service when it ends here', async () => {
    const store = memoryStore();
    const client = clientWith(store);
    expect(await client.session.isSignedIn()).toBe(false);
    await client.session.signIn({ username: user.username, password: user.password });
    expect((await profile(client)).data).toMatchObject({ id: user.id });

    const { accessToken } = store.read();
    await client.session.signOut();
    expect(await client.session.isSignedIn()).toBe(false);
    expect((await api.as({ token: accessToken }).get('/users/profile')).status).toBe(401);
    await expect(profile(client)).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
  });

  it('refuses a wrong password with one request', async () => {
    gateway.next();
    const signIn = clientWith(memoryStore()).session.signIn({ username: user.username, password: 'a wrong password' });

    await expect(signIn).rejects.toMatchObject({ status: 401, code: 'UNAUTHORIZED' });
    expect(gateway.asked).toEqual(['POST /auth/tokens']);
  });

  it.each([
    ['has ended', ended],
    ['is refused', refused],
  ])('exchanges its tokens once for twenty requests when the access token %s', async (_why, tokens) => {
    const client = clientWith(memoryStore(tokens()));
    gateway.next();
    const answers = await Promise.all(times(20, () => profile(client)));

    expect(answers.map(({ status }) => status)).toEqual(times(20, () => 200));
    expect(exchanges()).toBe(1);
  });

  it('fails with the 401 that comes after an exchange', async () => {
    const client = clientWith(memoryStore(ended()));
    gateway.faultOf = ({ path }) => (path.endsWith('/profile') ? { status: 401 } : undefined);

    await expect(profile(client)).rejects.toMatchObject({ status: 401 });
    expect(gateway.asked.length).toBeLessThanOrEqual(4);
  });

  it('ends when its refresh token is refused, and says so', async () => {
    const onSignedOut = jest.fn();
    const store = memoryStore({ ...ended(), refreshToken: 'x'.repeat(43) });
    const client = clientWith(store, { onSignedOut });

    await expect(profile(client)).rejects.toMatchObject({ status: 401 });
    expect(onSignedOut).toHaveBeenCalledTimes(1);
    expect(await client.session.isSignedIn()).toBe(false);
  });

  it('exchanges again when the exchange did not reach the service', async () => {
    const client = clientWith(memoryStore(ended()));
    gateway.next('before');

    expect((await profile(client)).status).toBe(200);
    expect(gateway.asked).toEqual([EXCHANGE, EXCHANGE, 'GET /users/profile']);
  });

  it('keeps its tokens when the service cannot be reached', async () => {
    const store = memoryStore(ended());
    gateway.faultOf = () => 'before';

    await expect(profile(clientWith(store, { retry: { attempts: 1 } }))).rejects.toMatchObject({ code: 'NO_ANSWER' });
    expect(store.read()).toMatchObject({ refreshToken: user.refreshToken });
  });

  it('takes its refresh token nowhere else', async () => {
    const store = memoryStore(ended());
    gateway.next({ status: 307, headers: { Location: `${gateway.url}/elsewhere` } });

    await expect(profile(clientWith(store))).rejects.toMatchObject({ code: 'UNEXPECTED_ANSWER', status: 307 });
    expect(gateway.asked).toEqual([EXCHANGE]);
  });

  describe('whose tokens could not be exchanged', () => {
    const body = { username: 'a-name', email: 'name@example.com' };
    const replace = (client: ReturnType<typeof createClient>, options: object) =>
      client.users.replace(user.id, body, options);
    const once = { retry: { attempts: 1 } };

    it.each([
      ['has ended', ended],
      ['is refused', refused],
    ])('is certain that nothing was written when the access token %s', async (_why, tokens) => {
      gateway.faultOf = ({ path }) => (path.endsWith('/auth/tokens') ? 'before' : undefined);
      const write = replace(clientWith(memoryStore(tokens()), once), { ifMatch: 1 });

      await expect(write).rejects.toMatchObject({ code: 'NO_ANSWER', uncertain: false });
    });

    it('sends a write again that is not safe to repeat, as it was not sent', async () => {
      gateway.next('before', 'before', 'before', 'before');
      await replace(clientWith(memoryStore(ended())), {});

      expect(gateway.asked).toEqual([...times(5, () => EXCHANGE), `PUT /users/${user.id}`]);
    });

    it('gives each request that waited an error of its own', async () => {
      gateway.faultOf = () => 'before';
      const client = clientWith(memoryStore(ended()), once);
      const [one, other] = await Promise.allSettled([profile(client), profile(client)]);

      expect(one).toMatchObject({ status: 'rejected', reason: { code: 'NO_ANSWER' } });
      expect((one as PromiseRejectedResult).reason).not.toBe((other as PromiseRejectedResult).reason);
    });
  });

  it('goes on for a request when another one that waits for the same exchange is cancelled', async () => {
    const client = clientWith(memoryStore(ended()));
    const controller = new AbortController();
    gateway.faultOf = () => void controller.abort(new Error('Enough'));
    const [cancelled, other] = await Promise.allSettled([
      client.GET('/users/profile', { signal: controller.signal }),
      profile(client),
    ]);

    expect(cancelled).toMatchObject({ status: 'rejected', reason: new Error('Enough') });
    expect(other).toMatchObject({ status: 'fulfilled', value: { status: 200 } });
  });

  describe('of several tabs without locks', () => {
    const tabs = (count: number) => {
      const storage = new TestStorage();
      webStore('tabs', storage).write(ended());
      return { storage, clients: times(count, () => clientWith(webStore('tabs', storage))) };
    };

    it('goes on in each when all exchange one token at once', async () => {
      const { clients } = tabs(4);
      gateway.next();
      const answers = await Promise.all(clients.map(profile));

      // Those that come late find the tokens of the first.
      expect(exchanges()).toBeGreaterThan(0);
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    });

    it('takes the tokens that another tab has got', async () => {
      const { clients } = tabs(2);
      await profile(clients[0]);
      gateway.next();

      expect((await profile(clients[1])).status).toBe(200);
      expect(exchanges()).toBe(0);
    });

    it('is over in each when it ends in one', async () => {
      const { clients, storage } = tabs(2);
      await clients[0].session.signOut();

      expect(storage.getItem('tabs')).toBeNull();
      expect(await clients[1].session.isSignedIn()).toBe(false);
    });

    it('takes what is no tokens for none', async () => {
      const { clients, storage } = tabs(1);
      for (const text of ['{', '1', '{}', 'null']) {
        storage.setItem('tabs', text);
        expect(await clients[0].session.isSignedIn()).toBe(false);
      }
    });
  });
});
