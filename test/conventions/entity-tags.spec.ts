import { type Answer, type Client, countStatuses, expectError, times } from '../../src/platform/testing';
import { Fixtures } from '../support/fixtures';
import { useTestApi } from '../support/test-api';

const tagOf = ({ headers }: Answer) => headers.get('etag');
const ONLY_PLAIN = { 'Accept-Encoding': 'identity' };

describe('An entity tag', () => {
  const api = useTestApi();
  let admin: Client;
  let own: Fixtures;

  beforeAll(async () => {
    admin = api.as(await api.admin()).with(ONLY_PLAIN);
    own = new Fixtures(api, await api.user());
  });

  it('is on no list', async () => {
    expect(tagOf(await admin.get('/products'))).toBeNull();
  });

  it('spares HEAD nothing, and says the same', async () => {
    const { id } = await own.product();
    expect(tagOf(await admin.head(`/products/${id}`))).toBe('"1"');
    expect((await admin.head(`/products/${id}`, { 'If-None-Match': '"1"' })).status).toBe(304);
  });

  it('comes after 404 and 403, and before 409', async () => {
    const stale = { 'If-Match': '"9"' };
    const { id } = await own.post();
    const stranger = api.as(await api.user());
    const taken = await api.user();
    const admins = admin.with(stale);

    expectError(await admins.patch('/products/999999', { stock: 1 }), 'NOT_FOUND');
    expectError(await stranger.with(stale).patch(`/posts/${id}`, { title: 'x' }), 'FORBIDDEN');
    expectError(await admins.patch(`/users/${own.owner.id}`, { email: taken.email }), 'PRECONDITION_FAILED');
    const { id: order } = await own.order({ status: 'DELIVERED' });
    expectError(await admins.patch(`/orders/${order}/status`, { status: 'PAID' }), 'PRECONDITION_FAILED');
    expectError(await admin.patch(`/orders/${order}/status`, { status: 'PAID' }), 'CONFLICT');
  });

  it('guards a change that changes nothing as well', async () => {
    const { id } = await own.product({ name: 'As it is' });
    const { id: order } = await own.order({ status: 'PENDING' });
    const stale = admin.with({ 'If-Match': '"9"' });

    expectError(await stale.patch(`/products/${id}`, {}), 'PRECONDITION_FAILED');
    expectError(await stale.patch(`/products/${id}`, { name: 'As it is' }), 'PRECONDITION_FAILED');
    expectError(await stale.patch(`/orders/${order}/status`, { status: 'PENDING' }), 'PRECONDITION_FAILED');
  });

  it('changes with the representation, and only then', async () => {
    const created = await admin.post('/products', { name: 'Cup', price: 1, stock: 5 });
    const path = `/products/${created.body.data.id}`;
    expect(tagOf(created)).toBe('"1"');
    expect(tagOf(await admin.patch(path, { stock: 5 }))).toBe('"1"');
    expect(tagOf(await admin.patch(path, {}))).toBe('"1"');
    const changed = await admin.patch(path, { stock: 6 });
    expect(tagOf(changed)).toBe('"2"');
    expect(tagOf(await admin.get(path))).toBe('"2"');
    expect(changed.body.data).toEqual((await admin.get(path)).body.data);

    const buyer = api.as(own.owner);
    const order = await buyer.post('/orders', { items: [{ product_id: created.body.data.id, quantity: 1 }] });
    expect(tagOf(order)).toBe('"1"');
    expect(tagOf(await admin.get(path))).toBe('"3"');
    const cancelled = await buyer.patch(`/orders/${order.body.data.id}/status`, { status: 'CANCELLED' });
    expect(tagOf(cancelled)).toBe('"2"');
    expect(tagOf(await admin.get(path))).toBe('"4"');
  });

  it('differs where the bytes do: in another view, another encoding, another media type', async () => {
    const { id } = await own.post({ content: 'long text '.repeat(300) });
    const encoded = (encoding: string) => api.get(`/posts/${id}`, { 'Accept-Encoding': encoding });
    expect(tagOf(await encoded('identity'))).toBe('"1"');
    expect(tagOf(await encoded('gzip'))).toBe('"1-gzip"');
    expect(tagOf(await encoded('br'))).toBe('"1-br"');
    const vendor = await api.get(`//api/posts/${id}`, { ...ONLY_PLAIN, Accept: 'application/vnd.api+json;version=1' });
    expect(tagOf(vendor)).toBe('"1-vnd1"');

    const user = `/users/${own.owner.id}`;
    const stranger = api.as(await api.user());
    expect(tagOf(await api.as(own.owner).get(user))).toBe('"1"');
    expect(tagOf(await stranger.get(user))).toBe('"1-public"');
    expect((await stranger.get(user, { 'If-None-Match': '"1"' })).status).toBe(200);
    expect((await stranger.get(user, { 'If-None-Match': '"1-public"' })).status).toBe(304);
  });

  it('of any of them is good for a change', async () => {
    for (const tag of ['"1-gzip"', '"1-public-br"', '"1-vnd2"']) {
      const { id } = await own.product();
      expect((await admin.patch(`/products/${id}`, { stock: 77 }, { 'If-Match': tag })).status).toBe(200);
    }
  });

  it('lets exactly one of many writers pass who have read the same', async () => {
    for (const method of ['PUT', 'PATCH', 'DELETE']) {
      const { id } = await own.product();
      const write = (index: number) => {
        const body = method === 'DELETE' ? undefined : { name: `By ${index}`, price: index };
        return admin.send(method, `/products/${id}`, body, { 'If-Match': '"1"' });
      };
      const counts = countStatuses(await Promise.all(times(20, write)));
      // Who comes after a deletion finds nothing.
      expect([method, counts]).toEqual([method, method === 'DELETE' ? { 204: 1, 404: 19 } : { 200: 1, 412: 19 }]);
    }
  });

  it('is not needed: without it the last writer wins, on whole attributes', async () => {
    const { id } = await own.product();
    const texts = times(30, (index) => String(index).repeat(100));
    await Promise.all(texts.map((name, index) => admin.put(`/products/${id}`, { name, price: index })));

    const { name, price } = (await admin.get(`/products/${id}`)).body.data;
    expect(name).toBe(texts[price]);
  });
});

describe('Cache-Control', () => {
  const api = useTestApi();
  const of = ({ headers }: Answer) => headers.get('cache-control');

  it('keeps what a caller gets out of all caches, and everything from being used unasked', async () => {
    const owner = await api.user();
    const own = new Fixtures(api, owner);
    const { id } = await own.product();
    const user = api.as(owner);

    expect(of(await user.get('/users/profile'))).toBe('no-store');
    expect(of(await user.get('/orders'))).toBe('no-store');
    expect(of(await user.get(`/products/${id}`))).toBe('no-store');
    expect(of(await api.get(`/products/${id}`))).toBe('no-cache');
    expect((await api.get(`/products/${id}`)).headers.get('vary')).toContain('Authorization');
    expect(of(await user.get('/users/profile', { 'If-None-Match': '"1"' }))).toBe('no-store');
    expect(of(await user.post('/posts', { title: 'A post', content: 'A text' }))).toBe('no-store');
    expect(of(await api.get('/public'))).toBe('no-store');
    expect(of(await api.get('/users/profile'))).toBe('no-store');
  });
});
