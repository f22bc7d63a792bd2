import { times } from '../../src/platform/testing';
import { builtClient, describeCalls } from '../support/client';
import { Fixtures } from '../support/fixtures';
import { useGateway } from '../support/gateway';
import { useTestApi } from '../support/test-api';

const { createClient, memoryStore } = builtClient();
const QUICK = { firstDelay: 1, longestDelay: 5 };
const PRODUCTS = 25;

describeCalls('A collection of the client', () => {
  const api = useTestApi();
  const gateway = useGateway(() => api.url);
  let fixtures: Fixtures;
  let client: ReturnType<typeof createClient>;
  let ids: number[];
  let store: unknown;

  beforeAll(async () => {
    const admin = await api.admin();
    fixtures = new Fixtures(api, admin);
    ids = (await Promise.all(times(PRODUCTS, () => fixtures.product({ name: 'A numbered cup' })))).map(({ id }) => id);
    store = memoryStore({ accessToken: admin.token, accessExpiresAt: Infinity, refreshToken: admin.refreshToken });
    client = createClient({ url: gateway.url, store, retry: QUICK });
  });

  async function idsOf(items: AsyncIterable<{ id: number }>, most = Infinity): Promise<number[]> {
    const found: number[] = [];
    for await (const { id } of items) {
      found.push(id);
      if (found.length === most) break;
    }
    return found;
  }
  const sorted = (numbers: number[]) => [...numbers].sort((one, other) => one - other);

  it.each([1, 2])('reads all pages of version %i, through broken connections', async (version) => {
    gateway.next(undefined, 'before', 'after', 'midway');
    const one = createClient({ url: gateway.url, store, retry: QUICK, version });
    const found = await idsOf(one.products.all({ search: 'numbered', size: 10 }));

    expect(sorted(found)).toEqual(sorted(ids));
    expect(gateway.asked).toHaveLength(6);
  });

  it('reads a page when the loop comes to it, and none after the end of the loop', async () => {
    gateway.next();
    const products = client.products.all({ search: 'numbered', size: 10, fields: ['id'] });
    expect(gateway.asked).toEqual([]);

    expect(await idsOf(products, 12)).toHaveLength(12);
    expect(gateway.asked).toHaveLength(2);
  });

  it('reads no further page when it is cancelled', async () => {
    const controller = new AbortController();
    const products = client.products.all({ search: 'numbered', size: 10 }, { signal: controller.signal });
    await products.next();
    controller.abort(new Error('Enough'));

    await expect(idsOf(products)).rejects.toThrow('Enough');
  });

  it('sends lists of attributes with commas, and bounds in brackets', async () => {
    gateway.next();
    const { data } = await client.products.list({
      fields: ['id', 'name'],
      price: { gte: 0 },
      search: 'numbered',
      size: 1,
    });

    expect(Object.keys(data[0])).toEqual(['id', 'name']);
    expect(gateway.requests[0].path).toContain('fields=id,name&price[gte]=0');
  });

  it('has the pages of a nested path', async () => {
    const { id: userId } = fixtures.owner;
    await Promise.all(times(3, () => fixtures.post()));
    const posts = client.all('/users/{userId}/posts', { params: { path: { userId }, query: { size: 2 } } });

    expect(await idsOf(posts)).toHaveLength(3);
  });

  it('creates, reads, replaces, updates and removes', async () => {
    const { id } = await client.products.create({ name: 'A cup', price: 5 });
    expect(await client.products.get(id, { fields: ['name'] })).toEqual({ name: 'A cup' });
    expect(await client.products.replace(id, { name: 'A jug', price: 6 })).toMatchObject({ name: 'A jug' });
    expect(await client.collection('/products').update(id, { price: 7 })).toMatchObject({ name: 'A jug', price: 7 });
    const stale = client.products.remove(id, { ifMatch: '"1"' });
    await expect(stale).rejects.toMatchObject({ code: 'PRECONDITION_FAILED', uncertain: false });
    await client.products.remove(id, { ifMatch: 3 });

    await expect(client.products.get(id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  // A URL loses such segments: DELETE /products/.. would be DELETE of all that there is.
  describe.each(['', '.', '..', undefined, null])('a parameter of the path that is %p', (value) => {
    const one = { params: { path: { id: value } } };
    const nested = { params: { path: { userId: value, postId: 1 } } };

    it.each<[string, () => Promise<unknown>]>([
      ['get', () => client.products.get(value)],
      ['replace', () => client.products.replace(value, { name: 'A cup', price: 5 })],
      ['update', () => client.products.update(value, { price: 5 })],
      ['change', () => client.products.change(value, () => ({ price: 5 }))],
      ['remove', () => client.products.remove(value)],
      ['GET', () => client.GET('/products/{id}', one)],
      ['DELETE', () => client.DELETE('/products/{id}', one)],
      ['all', () => client.all('/posts/{id}/comments', one).next()],
      ['GET of a nested path', () => client.GET('/users/{userId}/posts/{postId}', nested)],
    ])('is refused by %s, and nothing is sent', async (_call, call) => {
      gateway.next();
      await expect(call()).rejects.toThrow(TypeError);

      expect(gateway.asked).toEqual([]);
    });
  });

  describe('change', () => {
    const stockOf = async (id: number) => (await client.products.get(id)).stock;

    it('counts each of ten changes at once', async () => {
      const { id } = await fixtures.product({ stock: 0 });
      await Promise.all(
        times(10, () =>
          client.products.change(id, ({ stock }: { stock: number }) => ({ stock: stock + 1 }), { times: 50 }),
        ),
      );

      expect(await stockOf(id)).toBe(10);
    });

    it('writes nothing that is so already', async () => {
      const { id } = await fixtures.product({ stock: 7 });
      gateway.next();
      expect(await client.products.change(id, () => ({ stock: 7 }))).toMatchObject({ id, stock: 7 });

      expect(gateway.asked).toEqual([`GET /products/${id}`]);
    });

    it('writes what the function has changed in the item itself', async () => {
      const { id } = await fixtures.product({ stock: 7 });
      const more = (product: { stock: number }) => Object.assign(product, { stock: product.stock + 1 });

      expect(await client.products.change(id, more)).toMatchObject({ stock: 8 });
      expect(await stockOf(id)).toBe(8);
    });

    it('fails when others are always first', async () => {
      const { id } = await fixtures.product({ stock: 7 });
      gateway.faultOf = ({ method }) => (method === 'PATCH' ? { status: 412 } : undefined);
      const change = client.products.change(id, () => ({ stock: 8 }), { times: 3 });

      await expect(change).rejects.toMatchObject({ code: 'PRECONDITION_FAILED', uncertain: false });
      expect(gateway.asked).toHaveLength(6);
    });

    it('is done when its answer was lost, and the item is as it was to be', async () => {
      const { id } = await fixtures.product({ stock: 7 });
      gateway.next(undefined, 'after');

      expect(await client.products.change(id, () => ({ stock: 8 }))).toMatchObject({ stock: 8 });
    });

    it('counts nothing twice when its answer was lost, but says that it is uncertain', async () => {
      const { id } = await fixtures.product({ stock: 7 });
      gateway.next(undefined, 'after');
      const change = client.products.change(id, ({ stock }: { stock: number }) => ({ stock: stock + 1 }));

      await expect(change).rejects.toMatchObject({ code: 'PRECONDITION_FAILED', uncertain: true });
      expect(await stockOf(id)).toBe(8);
    });
  });
});
