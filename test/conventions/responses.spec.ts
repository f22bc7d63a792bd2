import { randomBytes } from 'node:crypto';
import { expectError, expectErrorHeaders, expectSuccess, headerOf } from '../support/expectations';
import { sendRaw } from '../support/raw-http';
import { type Answer, type Client, type TestUser, times, useTestApi } from '../support/test-api';
import { waitFor } from '../support/wait-for';

const ORIGIN = 'https://app.example.com';
const HTML = `<script>alert("1 & 2")\u2028\u2029</script>`;
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** With Redis, counters outlive a test run: each test counts for a client of its own. */
const aNetwork = () => `2001:db8:${randomBytes(4).toString('hex').match(/..../g)!.join(':')}`;
const anAddress = () => `${aNetwork()}::1`;
const statuses = async (count: number, send: () => Promise<Answer>) => {
  const seen: number[] = [];
  for (let sent = 0; sent < count; sent++) seen.push((await send()).status);
  return seen;
};

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
        username: 'ada',
        email: ada.email,
        name: HTML,
        status: 'ACTIVE',
        roles: ['USER'],
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

  describe('to another origin', () => {
    const from = (origin: string) => api.with({ Origin: origin });
    const corsHeaders = ({ headers }: Answer) =>
      Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-')));
    const preflight = (origin: string, path: string) =>
      from(origin).options(path, {
        'Access-Control-Request-Method': 'PUT',
        'Access-Control-Request-Headers': 'authorization,x-anything',
      });
    const ALLOWED = { 'access-control-allow-origin': ORIGIN, 'access-control-allow-credentials': 'true' };

    it.each([
      ['/public', 200],
      ['/users', 401],
      ['/nothing', 404],
      ['/auth/tokens', 405],
      ['/public?more=1', 400],
    ])('may be read if it is listed: %s', async (path, status) => {
      const answer = await from(ORIGIN).get(path);

      expect(answer.status).toBe(status);
      expect(corsHeaders(answer)).toEqual({
        ...ALLOWED,
        'access-control-expose-headers':
          'ETag,Link,Location,RateLimit,RateLimit-Policy,Retry-After,X-Request-Id,Idempotent-Replayed,' +
          'Upload-Expires,Upload-Length,Upload-Metadata,Upload-Offset,Content-Disposition,Content-Range,Accept-Ranges,' +
          'Tus-Resumable,Tus-Version,Tus-Max-Size,Tus-Extension,Tus-Checksum-Algorithm',
      });
      expect(answer.headers.get('vary')).toContain('Origin');
    });

    it.each(['/users', '/users/1', '/auth/tokens', '/nothing'])(
      'is allowed in advance if it is listed: %s',
      async (path) => {
        const answer = await preflight(ORIGIN, path);

        expect(answer).toMatchObject({ status: 204, text: '' });
        expect(corsHeaders(answer)).toMatchObject({
          ...ALLOWED,
          'access-control-allow-methods': 'GET,POST,PUT,DELETE',
          'access-control-allow-headers': 'authorization,x-anything',
        });
        expect(answer.headers.get('vary')).toMatch(/Origin.*Access-Control-Request-Headers/);
      },
    );

    it.each([
      'https://evil.example',
      'https://app.example.com.evil.example',
      'https://app.example.co',
      'http://app.example.com',
      'https://app.example.com:8443',
      'https://APP.example.com',
      'http://localhost',
      'null',
      '*',
    ])('gets no word of it if it is not listed: %s', async (origin) => {
      const answers = [
        await from(origin).get('/public'),
        await from(origin).get('/users'),
        await preflight(origin, '/users'),
      ];

      expect(answers.map(({ status }) => status)).toEqual([200, 401, 204]);
      expect(answers.map(corsHeaders)).toEqual([{}, {}, {}]);
      answers.forEach(({ headers }) => expect(headers.get('vary')).toContain('Origin'));
    });

    it('gets the same answer to an OPTIONS that is no preflight as anyone', async () => {
      const answer = await from(ORIGIN).options('/users');

      expect(answer.headers.get('allow')).toBe('GET, HEAD, POST, OPTIONS');
      expect(corsHeaders(answer)).toMatchObject(ALLOWED);
    });

    it('concerns the API alone', async () => {
      expect(corsHeaders(await from(ORIGIN).get('//health/live'))).toEqual({});
      expect(corsHeaders(await from(ORIGIN).get('//docs/json'))).toEqual({});
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
      ['/users/1', 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS', 'application/json, application/merge-patch+json'],
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

describe('other methods of CORS', () => {
  const api = useTestApi({ settings: { CORS_ORIGINS: ORIGIN, CORS_METHODS: 'GET, PATCH' } });

  it('are those of the setting', async () => {
    const answer = await api.options('/users', { Origin: ORIGIN, 'Access-Control-Request-Method': 'PATCH' });

    expect(answer.headers.get('access-control-allow-methods')).toBe('GET,PATCH');
  });
});

describe('GET /public', () => {
  const LIMIT = 3;
  const TEXT = 'text/plain; charset=utf-8';
  const settings = { PUBLIC_RATE_LIMIT: String(LIMIT), PUBLIC_RATE_WINDOW: '30' };
  const api = useTestApi({ settings: { ...settings, TRUST_PROXY: '1' } });
  const other = useTestApi({ settings: { ...settings, TRUST_PROXY: '2' } });
  const from = (address: string, client: Client = api) => client.with({ 'X-Forwarded-For': address });

  it('is plain text for anyone, and says how many requests are left', async () => {
    const client = from(anAddress());
    const left = [];
    for (let sent = 0; sent < LIMIT; sent++) {
      const answer = await client.get('/public', { Authorization: 'Bearer nonsense' });
      expect(answer).toMatchObject({ status: 200, text: 'Hello from the public resource.' });
      expect(answer.headers.get('content-type')).toBe(TEXT);
      expect(answer.headers.get('ratelimit-policy')).toBe(`"default";q=${LIMIT};w=30`);
      expect(answer.headers.get('ratelimit')).toMatch(/^"default";r=\d+;t=(29|30)$/);
      left.push(/r=(\d+)/.exec(answer.headers.get('ratelimit')!)![1]);
    }
    expect(left).toEqual(['2', '1', '0']);
  });

  it('is plain text when it is too much, and says when to come again', async () => {
    const client = from(anAddress());
    await statuses(LIMIT, () => client.get('/public'));

    const answer = await client.get('/public');

    expect(answer).toMatchObject({ status: 429, text: 'Too many requests. Please try again later.' });
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': TEXT,
      'cache-control': 'no-store',
      'retry-after': expect.stringMatching(/^(29|30)$/),
      ratelimit: expect.stringMatching(/^"default";r=0;t=(29|30)$/),
      'x-request-id': expect.stringMatching(/\S/),
    });
    expect([...answer.headers.keys()].filter((name) => /^retry-after-|^x-ratelimit/.test(name))).toEqual([]);
    expect(await client.head('/public')).toMatchObject({ status: 429, text: '' });
  });

  it('counts exactly, however many ask at once', async () => {
    const client = from(anAddress());
    const answers = await Promise.all(times(20, () => client.get('/public')));

    expect(answers.filter(({ status }) => status === 200)).toHaveLength(LIMIT);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(20 - LIMIT);
  });

  it('counts each address by itself, and nothing else that anyone sends', async () => {
    const client = from(anAddress());
    await statuses(LIMIT, () => client.get('/public'));

    expect(await from(anAddress()).get('/public')).toMatchObject({ status: 200 });
    expect(await client.get('/public', { 'User-Agent': 'another', 'X-Real-IP': anAddress() })).toMatchObject({
      status: 429,
    });
    expectError(await client.get('/public?more=1'), 'VALIDATION_ERROR');
    expectError(await client.get('/users'), 'UNAUTHORIZED');
  });

  it('counts a whole network of IPv6 as one client, for one client has it', async () => {
    const network = aNetwork();
    await statuses(LIMIT, () => from(`${network}::1`).get('/public'));

    expect(await from(`${network}:a:b:c:d`).get('/public')).toMatchObject({ status: 429 });
  });

  it('believes as many proxies as the setting says, counted from the nearest', async () => {
    const [first, second] = [anAddress(), anAddress()];

    expect(await statuses(4, () => from(`${anAddress()}, ${first}`).get('/public'))).toEqual([200, 200, 200, 429]);
    expect(await statuses(4, () => from(`${anAddress()}, ${second}, ${anAddress()}`, other).get('/public'))).toEqual([
      200, 200, 200, 429,
    ]);
  });

  const withRedis = process.env.REDIS_URL ? it : it.skip;
  withRedis('counts together with the other instances', async () => {
    const address = anAddress();

    expect(await statuses(2, () => from(address).get('/public'))).toEqual([200, 200]);
    expect(await statuses(2, () => from(`${address}, ${anAddress()}`, other).get('/public'))).toEqual([200, 429]);
  });

  it('knows of HTTPS by a trusted proxy', async () => {
    const secure = await api.get('/public', { 'X-Forwarded-For': anAddress(), 'X-Forwarded-Proto': 'https' });

    expect(secure.headers.get('strict-transport-security')).toBe('max-age=31536000; includeSubDomains');
  });
});

describe('without a trusted proxy', () => {
  // Without Redis, so that this address was not counted yet.
  const api = useTestApi({ settings: { PUBLIC_RATE_LIMIT: '3', PUBLIC_RATE_WINDOW: '1', REDIS_URL: '' } });

  it('what a client says of its address and its protocol means nothing', async () => {
    const ask = () =>
      api.get('/public', {
        'X-Forwarded-For': anAddress(),
        'X-Forwarded-Proto': 'https',
        Forwarded: `for=${anAddress()}`,
      });

    // More than fit into two windows, should the first one end meanwhile.
    expect(await statuses(7, ask)).toContain(429);
    expect((await ask()).headers.has('strict-transport-security')).toBe(false);
  });

  it('serves again when the window is over', async () => {
    const isAnswered = (status: number) => async () => (await api.get('/public')).status === status;

    await waitFor(isAnswered(429));
    await waitFor(isAnswered(200));
  });
});
