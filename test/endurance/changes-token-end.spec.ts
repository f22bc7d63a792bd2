import {
  type Answer,
  type Client,
  expectError,
  expectSuccess,
  type TestApp,
  waitFor,
} from '../../src/platform/testing';
import { aProduct } from '../support/builders';
import { EventReader } from '../support/event-reader';
import { clientOf, type TestUser, useTestApi } from '../support/test-api';
import { startApp } from '../support/test-app';

/** In seconds. */
const TTL = 4;

/** The end of a token is no end of its session: nobody does anything, only time passes. */
describe('Those who wait for changes, when their token expires', () => {
  const api = useTestApi();
  /** An instance that gives tokens of a few seconds. */
  let short: TestApp;
  let user: TestUser;
  let token: string;
  let end: number;
  let anonymous: Client;

  beforeAll(async () => {
    short = await startApp({ databaseUrl: api.app.databaseUrl, settings: { ACCESS_TOKEN_TTL: String(TTL) } });
    anonymous = clientOf(() => `http://127.0.0.1:${short.port}`);
  });

  afterAll(() => short.stop());

  beforeEach(async () => {
    user = await api.user();
    const { username, password } = user;
    const signedIn = expectSuccess(await anonymous.post('/auth/tokens', { username, password }), 201, 'Created');
    token = (signedIn as { access_token: string }).access_token;
    const { exp } = JSON.parse(String(Buffer.from(token.split('.')[1], 'base64url'))) as { exp: number };
    end = exp * 1_000;
  });

  const bearer = (of: string) => ({ Authorization: `Bearer ${of}` });
  const follow = (of: string) =>
    EventReader.open(`http://127.0.0.1:${short.port}/api/v1/changes?types=products`, bearer(of));
  /** Not before its end, and soon after it on a machine with time to spare. */
  const expectInTime = () => {
    expect(Date.now()).toBeGreaterThanOrEqual(end);
    expect(Date.now()).toBeLessThan(end + 10_000);
  };

  it('lose the stream, and others of the same user keep theirs', async () => {
    const [ending, lasting] = [await follow(token), await follow(user.token)];
    await waitFor(() => ending.lastId !== undefined && lasting.lastId !== undefined);
    await waitFor(() => ending.hasEnded);
    expectInTime();

    expect(ending.answer.status).toBe(200);
    expect((await follow(token)).answer.status).toBe(401);
    const admin = api.as(await api.admin());
    const { id } = expectSuccess(await admin.post('/products', aProduct()), 201, 'Created') as { id: number };
    expect(await lasting.until(1)).toMatchObject([{ id }]);
    expect(ending.data).toEqual([]);
    expect(lasting.hasEnded).toBe(false);
    lasting.close();
  });

  it('are answered 401 although they wait still', async () => {
    const answer: Answer = await clientOf(() => `http://127.0.0.1:${short.port}`, bearer(token)).get(
      '/changes?wait=30&cursor=now',
    );
    expectError(answer, 'UNAUTHORIZED');
    expectInTime();
  });
});
