import {
  type Answer,
  expectError,
  expectErrorHeaders,
  expectSuccess,
  headerOf,
  sendRaw,
  times,
} from '../../src/platform/testing';
import { type TestUser, useTestApi } from '../support/test-api';

const ORIGIN = 'https://app.example.com';
const HTML = `<script>alert("1 & 2")\u2028\u2029</script>`;
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

const PATCH_TYPES = 'application/json, application/merge-patch+json, application/xml, text/xml';

describe('what goes out', () => {
  const api = useTestApi({ settings: { CORS_ORIGINS: `${ORIGIN},http://localhost:8080` } });
  let ada: TestUser;

  beforeAll(async () => {
    ada = await api.user({ username: 'ada', name: HTML });
  });

  describe('as a success', () => {
    it('is one object around the data', async () => {
      expect(expectSuccess(await api.as(ada).get(`/users/${ada.id}`))).toEqual({
        id: ada.id,
        created_at: expect.stringMatching(ISO),
        updated_at: expect.stringMatching(ISO),
        version: 1,
        username: 'ada',
        email: ada.email,
        name: HTML,
        status: 'ACTIVE',
        roles: ['USER'],
        image: null,
      });
    });

    it('is a page beside its pagination', async () => {
      const { body } = await api.as(ada).get('/users?size=1');

      expect(body).toEqual({
        code: 200,
        message: 'OK',
        data: [expect.objectContaining({ id: expect.any(Number) })],
        pagination: { page: 0, size: 1, total: expect.any(Number), totalPages: expect.any(Number) },
        timestamp: expect.any(Number),
      });
    });

    it('links to other pages with the whole query, question marks and all', async () => {
      const { headers } = await api.as(ada).get('/users?search=what?now?&size=1');

      expect(headers.get('link')).toContain('?search=what%3Fnow%3F&size=1&page=0>; rel="first"');
    });

    it('says where a new resource is', async () => {
      const input = { username: 'newcomer', email: 'new@example.com', password: 'long enough' };
      const answer = await api.post('/users', input);

      const { id } = expectSuccess(answer, 201, 'Created') as { id: number };
      expect(answer.headers.get('location')).toBe(`/api/v1/users/${id}`);
      expect(await api.as(ada).get(`/users/${id}`)).toMatchObject({ status: 200 });
    });

    it('has no body when there is nothing to say', async () => {
      const user = await api.user();
      const answer = await api.as(user).delete(`/users/${user.id}`);

      expect(answer).toMatchObject({ status: 204, text: '' });
      expect(['content-type', 'content-length'].filter((name) => answer.headers.has(name))).toEqual([]);
    });

    it('is what others prescribe, where they do', async () => {
      const answer = await api.get('//.well-known/jwks.json');

      expect(Object.keys(answer.body as object)).toEqual(['keys']);
      expect(answer.body.keys[0]).toEqual({
        kty: 'RSA',
        alg: 'RS256',
        use: 'sig',
        e: 'AQAB',
        n: expect.any(String),
        kid: expect.any(String),
      });
    });

    it('can be embedded in a page: nothing in it starts a tag or ends a line', async () => {
      const answers = [
        await api.as(ada).get('/users/profile'),
        await api.as(ada).get('/users?search=script'),
        await api.as(ada).patch(`/users/${ada.id}`, { name: HTML }),
        await api.as(ada).patch(`/users/${ada.id}`, { [HTML]: 1 }),
        await api.as(ada).get(`/users?${encodeURIComponent(HTML)}=1`),
      ];

      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 400, 400]);
      for (const { text } of answers) {
        expect(text).not.toMatch(/[<>&\u2028\u2029]/);
        expect(text).toContain('\\u003cscript\\u003e');
        expect(text).toContain('\\u2028\\u2029');
      }
      expect(answers[1].body.data).toMatchObject([{ name: HTML }]);
    });
  });

  describe('as a header', () => {
    it.each(['a', 'a'.repeat(128), 'A-Z_0.9', '0'])('is the request id that came: %s', async (id) => {
      for (const path of ['/public', '/users', '/nothing']) {
        expect((await api.get(path, { 'X-Request-Id': id })).headers.get('x-request-id')).toBe(id);
      }
    });

    it.each(['', 'a'.repeat(129), 'a b', 'a/b', 'a,b', '<script>', 'a\u00e9', "a'--"])(
      'is a new request id instead of %j',
      async (id) => {
        const made = (await api.get('/public', { 'X-Request-Id': id })).headers.get('x-request-id');

        expect(made).toMatch(/^[0-9a-f-]{36}$/);
      },
    );

    it('is a new request id for each request that brings none, or two', async () => {
      const twice = 'GET /nothing HTTP/1.1\r\nHost: x\r\nX-Request-Id: a\r\nX-Request-Id: b\r\n\r\n';
      const ids = [...(await Promise.all(times(5, () => api.get('/nothing')))), await sendRaw(api.app.port, twice)].map(
        (answer) => headerOf(answer, 'x-request-id'),
      );

      expect(new Set(ids).size).toBe(6);
      ids.forEach((id) => expect(id).toMatch(/^[0-9a-f-]{36}$/));
    });

    it.each(['/users/profile', '/public', '/nothing', '//health/live', '//nothing'])(
      'keeps browsers from harm at %s',
      async (path) => {
        const { headers } = await api.as(ada).get(path);

        expect(Object.fromEntries(headers)).toMatchObject({
          'content-security-policy': "default-src 'none';frame-ancestors 'none'",
          'x-content-type-options': 'nosniff',
          'x-frame-options': 'SAMEORIGIN',
          'referrer-policy': 'no-referrer',
        });
        expect(['x-powered-by', 'server', 'strict-transport-security'].filter((name) => headers.has(name))).toEqual([]);
      },
    );

    it('keeps tokens and errors out of caches', async () => {
      const credentials = { username: 'ada', password: ada.password };
      const signIn = await api.post('/auth/tokens', credentials);
      const { refresh_token } = expectSuccess(signIn, 201, 'Created') as { refresh_token: string };
      const refresh = await api.put('/auth/tokens', { refresh_token });

      expect(signIn.headers.get('cache-control')).toBe('no-store');
      expect(signIn.headers.get('location')).toBe('/api/v1/auth/tokens');
      expectSuccess(refresh);
      expect(refresh.headers.get('cache-control')).toBe('no-store');
      expectError(await api.put('/auth/tokens', { refresh_token: 'unknown' }), 'UNAUTHORIZED');
    });
  });

  describe('compressed', () => {
    const list = (encoding: string) => api.as(ada).get('/users?size=100', { 'Accept-Encoding': encoding });

    beforeAll(() => Promise.all(times(10, () => api.user())));

    it.each(['gzip', 'br'])('is a page, when the client takes %s', async (encoding) => {
      const answer = await list(encoding);

      expect(answer.headers.get('content-encoding')).toBe(encoding);
      expect(answer.headers.get('vary')).toContain('Accept-Encoding');
      expect(answer.body.data).toEqual((await list('identity')).body.data);
    });

    it('is nothing when the client takes nothing, and caches are told of it', async () => {
      for (const encoding of ['identity', 'zip', 'gzip;q=0']) {
        const answer = await list(encoding);
        expect(answer.headers.get('content-encoding')).toBeNull();
        expect(answer.headers.get('vary')).toContain('Accept-Encoding');
        expect(Number(answer.headers.get('content-length'))).toBe(Buffer.byteLength(answer.text));
      }
    });

    it('is nothing below a kilobyte', async () => {
      const answer = await api.as(ada).get('/users/profile', { 'Accept-Encoding': 'gzip' });

      expect(answer.text.length).toBeLessThan(1024);
      expect(answer.headers.get('content-encoding')).toBeNull();
      expect(answer.headers.get('vary')).toContain('Accept-Encoding');
    });
  });

  describe('to HEAD and OPTIONS', () => {
    it.each(['/users', '/users/profile', '/public', '//health/live', '//.well-known/jwks.json'])(
      'is for HEAD what it is for GET, without the body: %s',
      async (path) => {
        const caller = api.as(ada).with({ 'Accept-Encoding': 'identity', Connection: 'close' });
        const varying = ['date', 'x-request-id', 'ratelimit'];
        const without = ({ headers }: Answer) =>
          Object.fromEntries([...headers].filter(([name]) => !varying.includes(name)));
        const head = await caller.head(path);
        const get = await caller.get(path);

        expect(head).toMatchObject({ status: 200, text: '' });
        expect(get.status).toBe(200);
        expect(without(head)).toEqual({ ...without(get), 'content-length': expect.stringMatching(/^\d+$/) });
      },
    );

    it('says no length for HEAD where GET is compressed', async () => {
      const long = api.as(ada).with({ 'Accept-Encoding': 'gzip' });
      for (let user = 0; user < 20; user++) await api.user();

      expect((await long.get('/users')).headers.get('content-encoding')).toBe('gzip');
      expect((await long.head('/users')).headers.get('content-length')).toBeNull();
    });

    it('is the error for HEAD too', async () => {
      const answer = await api.head('/users');

      expect(answer).toMatchObject({ status: 401, text: '' });
      expectErrorHeaders(answer);
    });

    it.each([
      ['/users', 'GET, HEAD, POST, OPTIONS', null],
      ['/users/1', 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS', PATCH_TYPES],
      ['/auth/tokens', 'POST, PUT, DELETE, OPTIONS', null],
      ['/public', 'GET, HEAD, OPTIONS', null],
      ['//health/ready', 'GET, HEAD, OPTIONS', null],
    ])('is the list of methods for OPTIONS, which needs no token: %s', async (path, allow, patch) => {
      const answer = await api.options(path);

      expect(answer).toMatchObject({ status: 204, text: '' });
      expect(answer.headers.get('allow')).toBe(allow);
      expect(answer.headers.get('accept-patch')).toBe(patch);
      expect(answer.headers.get('x-request-id')).toMatch(/\S/);
    });
  });
});
