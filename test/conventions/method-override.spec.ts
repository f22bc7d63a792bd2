import { randomUUID } from 'node:crypto';
import { type Client, expectError, waitFor } from '../../src/platform/testing';
import { itForEach } from '../support/asked';
import { Fixtures } from '../support/fixtures';
import { requestOf, ROUTES, sendTo } from '../support/requests';
import { useTestApi } from '../support/test-api';

const OVERRIDE = 'X-HTTP-Method-Override';
const CHANGES = ROUTES.filter((route) => /^(PUT|PATCH|DELETE) /.test(route));
const GUARDED = CHANGES.filter((route) => route.includes('/:'));
const ORIGIN = 'https://app.example.com';

describe('X-HTTP-Method-Override', () => {
  const api = useTestApi({ settings: { CORS_ORIGINS: ORIGIN } });
  let admin: Client;

  beforeAll(async () => {
    admin = api.as(await api.admin());
  });

  const request = async (route: string) => requestOf(route, new Fixtures(api, await api.user()));
  /** Sends the request of a route as a POST that names the route's method. */
  const post = async (client: Client, route: string, prepared = request(route)) => {
    const [method, path] = route.split(' ');
    return sendTo(client.with({ [OVERRIDE]: method }), `POST ${path}`, await prepared);
  };

  itForEach(CHANGES)('of a POST does what the method does: %s', async (route) => {
    const own = await sendTo(admin, route, await request(route));
    const overridden = await post(admin, route);

    expect([overridden.status, namesIn(overridden.body)]).toEqual([own.status, namesIn(own.body)]);
    expect(overridden.headers.get('etag')).toBe(own.headers.get('etag'));
  });

  itForEach(GUARDED)('of a POST asks what the method asks: %s', async (route) => {
    const prepared = request(route);
    expectError(await post(api, route, prepared), 'UNAUTHORIZED');
    expectError(await post(admin.with({ 'If-Match': '"9"' }), route, prepared), 'PRECONDITION_FAILED');
    expect((await post(admin.with({ 'If-Match': '"1"' }), route, prepared)).status).toBeLessThan(300);
  });

  it('takes the body types of a PATCH, and no idempotency key', async () => {
    const { id } = await new Fixtures(api, await api.user()).product();
    const patch = admin.with({ [OVERRIDE]: 'PATCH', 'Content-Type': 'application/merge-patch+json' });
    const key = { 'Idempotency-Key': randomUUID() };

    expect((await patch.post(`/products/${id}`, { stock: 1 }, key)).body.data.stock).toBe(1);
    const again = await patch.post(`/products/${id}`, { stock: 2 }, key);
    expect([again.body.data.stock, again.headers.get('idempotent-replayed')]).toEqual([2, null]);
    const put = admin.with({ [OVERRIDE]: 'PUT', 'Content-Type': 'application/merge-patch+json' });
    expectError(await put.post(`/products/${id}`, { name: 'Cup', price: 1 }), 'UNSUPPORTED_MEDIA_TYPE');
  });

  it.each(['GET', 'POST', 'patch', 'PATCH, PATCH', 'TRACE', ''])('of another method is 400: %j', async (method) => {
    const answer = await admin.post('/products/1', {}, { [OVERRIDE]: method });

    expectError(answer, 'VALIDATION_ERROR', { fields: { [OVERRIDE]: 'enum' } });
  });

  it('is 405 where the path has no such method, and 404 where there is no such path', async () => {
    const answer = await admin.post('/products', {}, { [OVERRIDE]: 'PATCH' });

    expectError(answer, 'METHOD_NOT_ALLOWED');
    expect(answer.headers.get('allow')).toBe('GET, HEAD, POST, OPTIONS');
    expectError(await admin.post('/nothing', {}, { [OVERRIDE]: 'PATCH' }), 'NOT_FOUND');
  });

  it.each(['GET', 'PUT', 'DELETE', 'OPTIONS'])('means nothing in a %s', async (method) => {
    const { id } = await new Fixtures(api, await api.user()).product();
    const body = method === 'PUT' ? { name: 'Cup', price: 1 } : undefined;
    const answer = await admin.send(method, `/products/${id}`, body, { [OVERRIDE]: 'PATCH' });

    expect(answer.status).toBe(/GET|PUT/.test(method) ? 200 : 204);
  });

  it('is in the log beside the method that it has become', async () => {
    const before = api.app.log.length;
    const { headers } = await post(admin, 'PATCH /api/v1/users/:id');
    const line = () => api.app.log.slice(before).find((one) => one.request_id === headers.get('x-request-id'));
    await waitFor(() => line() !== undefined);

    expect(line()).toMatchObject({ method: 'PATCH', method_as_sent: 'POST', route: '/api/users/:id' });
  });

  it('lets a page of a listed origin PATCH, though CORS_METHODS has no PATCH', async () => {
    const page = admin.with({ Origin: ORIGIN });
    const preflight = await page.options('/users/1', {
      'Access-Control-Request-Method': 'POST',
      'Access-Control-Request-Headers': 'x-http-method-override',
    });
    const answer = await post(page, 'PATCH /api/v1/users/:id');

    expect(preflight.headers.get('access-control-allow-headers')).toBe('x-http-method-override');
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([200, ORIGIN]);
  });
});

/** The names of the attributes of an answer. */
const namesIn = (body: { data?: object } | string): string[] | undefined =>
  typeof body === 'object' ? Object.keys(body.data ?? {}) : undefined;
