import { Fixtures } from '../support/fixtures';
import { builtClient, describeCalls } from '../support/client';
import { type Fault, useGateway } from '../support/gateway';
import { type TestUser, useTestApi } from '../support/test-api';

const { ApiError, createClient, memoryStore } = builtClient();
const QUICK = { firstDelay: 1, longestDelay: 5 };
const HTML = { 'Content-Type': 'text/html' };
const busy: Fault = { status: 503, headers: { 'Retry-After': '0' } };
const crowded: Fault = { status: 429, headers: { 'Retry-After': '0' } };
const inProgress: Fault = { status: 409, headers: { 'Retry-After': '0' } };

describeCalls('A call of the client', () => {
  const api = useTestApi();
  const gateway = useGateway(() => api.url);
  let owner: TestUser;
  let fixtures: Fixtures;
  let client: ReturnType<typeof createClient>;

  beforeAll(async () => {
    owner = await api.admin();
    fixtures = new Fixtures(api, owner);
    client = clientWith({});
  });

  const tokens = () => ({ accessToken: owner.token, accessExpiresAt: Infinity, refreshToken: owner.refreshToken });
  const clientWith = (options: object) =>
    createClient({ url: gateway.url, store: memoryStore(tokens()), retry: QUICK, ...options });
  const keys = () => gateway.requests.map(({ headers }) => headers['idempotency-key']);
  const post = (title: string) => ({ title, content: 'A text.' });
  const titled = (title: string) => api.get(`/posts?search=${encodeURIComponent(title)}`);

  it.each<[string, Fault]>([
    ['the connection breaks before the service gets it', 'before'],
    ['the connection breaks after the service has answered', 'after'],
    ['the connection breaks in the middle of the answer', 'midway'],
    ['the answer is 503', busy],
    ['the answer is 429', crowded],
    ['the answer is 409 with Retry-After, as the first one is in progress', inProgress],
    ['a proxy answers 502 with a page', { status: 502, headers: HTML, body: '<h1>Bad Gateway</h1>' }],
  ])('repeats a POST with the same key when %s, and it happens once', async (cause, fault) => {
    const title = `Once: ${cause}`;
    gateway.next(fault, fault);
    const created = await client.posts.create(post(title));

    expect(new Set(keys()).size).toBe(1);
    expect(gateway.asked).toEqual(['POST /posts', 'POST /posts', 'POST /posts']);
    expect((await titled(title)).body.data).toMatchObject([{ id: created.id, title }]);
  });

  it('gives each POST a key of its own, unless its caller names one', async () => {
    gateway.next();
    await client.posts.create(post('one'));
    await client.POST('/posts', { body: post('two') });
    await client.posts.create(post('three'), { idempotencyKey: 'import-3' });

    expect(keys()).toEqual([expect.stringMatching(/^\w{32}$/), expect.stringMatching(/^\w{32}$/), 'import-3']);
    expect(new Set(keys()).size).toBe(3);
  });

  it('repeats reads', async () => {
    gateway.next('before', 'midway', busy);

    expect(await client.posts.list({ size: 1 })).toMatchObject({ status: 200, data: [{ id: expect.any(Number) }] });
  });

  it.each(['PUT', 'PATCH'] as const)('repeats a %s with If-Match only', async (method) => {
    const product = await fixtures.product();
    const body = { name: 'A cup', price: 5 };
    const path = { id: product.id };
    gateway.next('after');
    const refused = client[method]('/products/{id}', { params: { path }, body });
    await expect(refused).rejects.toMatchObject({ code: 'NO_ANSWER', status: 0, attempts: 1, uncertain: true });

    const { etag } = await client.GET('/products/{id}', { params: { path } });
    gateway.next('before');
    const header = { 'If-Match': etag };
    const answer = await client[method]('/products/{id}', { params: { path, header }, body: { ...body, price: 6 } });
    expect(answer).toMatchObject({ status: 200, data: { price: 6 } });
  });

  it('removes once, although the answer was lost', async () => {
    const { id } = await fixtures.product();
    gateway.next('after');
    await client.products.remove(id);

    expect(gateway.asked).toHaveLength(2);
    await expect(client.products.remove(id)).rejects.toMatchObject({ code: 'NOT_FOUND', uncertain: false });
  });

  it('repeats neither a refusal nor an error of the service', async () => {
    gateway.next({ status: 500, body: '' });
    await expect(client.posts.list()).rejects.toMatchObject({ status: 500, attempts: 1 });
    await expect(client.posts.create({ title: '' })).rejects.toMatchObject({ status: 400, attempts: 1 });
  });

  it('waits as long as Retry-After says, and not at all if that is too long', async () => {
    gateway.next({ status: 429, headers: { 'Retry-After': '1' } });
    const start = performance.now();
    await client.posts.list();
    expect(performance.now() - start).toBeGreaterThanOrEqual(999);

    gateway.next({ status: 429, headers: { 'Retry-After': '3600' } });
    await expect(client.posts.list()).rejects.toMatchObject({
      code: 'TOO_MANY_REQUESTS',
      retryAfter: 3600,
      attempts: 1,
    });
  });

  it('ends after its attempts, and after its time', async () => {
    gateway.faultOf = () => 'before';
    await expect(client.posts.list()).rejects.toMatchObject({ code: 'NO_ANSWER', attempts: 6 });

    const hasty = clientWith({ retry: { ...QUICK, attempts: 1_000_000, seconds: 0.2 } });
    await expect(hasty.posts.list()).rejects.toMatchObject({ code: 'NO_ANSWER', attempts: expect.any(Number) });
  });

  it('gives up an attempt that takes too long, and makes another one', async () => {
    gateway.next('silence');
    const answer = await clientWith({ timeout: 200 }).posts.create(post('late'));
    expect(answer.title).toBe('late');

    gateway.faultOf = () => 'silence';
    const never = clientWith({ timeout: 20, retry: { ...QUICK, attempts: 2 } }).posts.list();
    await expect(never).rejects.toMatchObject({ code: 'TIMEOUT', status: 0, attempts: 2 });
  });

  it.each<[string, Fault, object]>([
    ['while it waits for an answer', 'silence', QUICK],
    ['while it waits for another attempt', 'before', { firstDelay: 1e9, longestDelay: 1e9, seconds: 1e9 }],
  ])('ends at once when it is cancelled %s', async (_when, fault, retry) => {
    const controller = new AbortController();
    gateway.faultOf = () => {
      setTimeout(() => controller.abort(new Error('Enough')), 10);
      return fault;
    };
    const { signal } = controller;

    await expect(clientWith({ retry }).posts.list({}, { signal })).rejects.toThrow('Enough');
    await expect(client.posts.list({}, { signal })).rejects.toThrow('Enough');
  });

  it('sends nothing when it was cancelled before', async () => {
    gateway.next();
    await expect(client.posts.list({}, { signal: AbortSignal.abort(new Error('Enough')) })).rejects.toThrow('Enough');

    expect(gateway.asked).toEqual([]);
  });

  it('has an error with all that the answer says', async () => {
    const error = await client.posts.create({ title: '', content: 'x' }).catch((caught: unknown) => caught);

    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ status: 400, code: 'VALIDATION_ERROR', fields: [{ field: 'title' }] });
    expect(error.requestId).toMatch(/^[\w.-]+$/);
    expect(error.is('VALIDATION_ERROR')).toBe(true);
    expect(error.is('CONFLICT', 'GONE')).toBe(false);
  });

  it('says what is left of a product that is short, and sends the order once', async () => {
    const { id } = await fixtures.product({ stock: 1 });
    gateway.next();
    const order = client.orders.create({ items: [{ product_id: id, quantity: 2 }] });

    await expect(order).rejects.toMatchObject({ code: 'CONFLICT', fields: [{ rule: 'stock', available: 1 }] });
    expect(gateway.asked).toEqual(['POST /orders']);
  });

  it.each<[string, Fault, object]>([
    ['of a proxy', { status: 403, headers: HTML, body: '<h1>No</h1>' }, { code: 'FORBIDDEN', details: '<h1>No</h1>' }],
    ['of an unknown status', { status: 418, headers: HTML, body: 'Tea' }, { code: 'UNKNOWN', details: 'Tea' }],
    [
      'that is no JSON although it is a success',
      { status: 200, headers: HTML, body: '<p>' },
      { code: 'UNEXPECTED_ANSWER' },
    ],
  ])('has an error for an answer %s', async (_what, fault, facts) => {
    gateway.next(fault);

    await expect(client.posts.list()).rejects.toMatchObject(facts);
  });

  it.each([301, 302, 303, 307, 308])('follows no redirect (%i), which would make a GET of a POST', async (status) => {
    gateway.next({ status, headers: { Location: '/api/v2/posts' } });
    const moved = { code: 'UNEXPECTED_ANSWER', status, details: '/api/v2/posts', attempts: 1, uncertain: false };

    await expect(client.posts.create(post('moved'))).rejects.toMatchObject(moved);
    expect(gateway.asked).toEqual(['POST /posts']);
  });

  it('reads the text of a route without envelopes, also when it refuses', async () => {
    gateway.next();
    expect(await client.GET('/public')).toMatchObject({ status: 200, data: expect.any(String) });

    gateway.faultOf = () => ({ status: 429, headers: { 'Content-Type': 'text/plain' }, body: 'Too many requests.' });
    await expect(client.GET('/public')).rejects.toMatchObject({
      code: 'TOO_MANY_REQUESTS',
      details: 'Too many requests.',
    });
  });
});
