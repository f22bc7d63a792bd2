import { DataSource } from 'typeorm';
import { expectError, headerOf, RawConnection, sendRaw, statementsOf, times } from '../../src/platform/testing';
import { Post, PostStatus } from '../../src/resources/posts/post.entity';
import { Product } from '../../src/resources/products/product.entity';
import { fieldsOf } from '../support/csv';
import { Fixtures } from '../support/fixtures';
import { type TestUser, useTestApi } from '../support/test-api';

const CSV = { Accept: 'text/csv' };
const NDJSON = { Accept: 'application/x-ndjson' };
/** More than a step reads, and no multiple of it. */
const PRODUCTS = 2_001;

describe('A whole list', () => {
  const api = useTestApi({ settings: { TRUST_PROXY: '1' } });
  let user: TestUser;

  beforeAll(async () => {
    user = await api.user();
    const products = times(PRODUCTS, (index) => ({ name: `Product ${index % 7}`, price: index, stock: 1 }));
    await api.repository(Product).insert(products);
  });

  const linesOf = (text: string) =>
    text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as { id: number });

  it('has all rows once, in their order, however many steps that takes', async () => {
    const { text } = await api.get('/products?sort=name&order=desc&fields=id,name', NDJSON);
    const lines = linesOf(text) as { id: number; name: string }[];
    const sorted = [...lines].sort((one, other) =>
      one.name < other.name ? 1 : one.name > other.name ? -1 : other.id - one.id,
    );

    expect(new Set(lines.map(({ id }) => id)).size).toBe(PRODUCTS);
    expect(lines).toEqual(sorted);
    expect(Object.keys(lines[0])).toEqual(['id', 'name']);
  });

  it('has what belongs to each row, in each step', async () => {
    const { owner } = new Fixtures(api, user);
    await api.app.nest.get(DataSource).query(
      `WITH made AS (INSERT INTO orders (user_id, total_amount, status)
         SELECT ${owner.id}, n, 'PAID' FROM generate_series(1, 200) AS n RETURNING id)
       INSERT INTO order_items (order_id, position, product_id, quantity, name, unit_price)
         SELECT id, position, 1, 1, 'Item ' || id || '.' || position, 1 FROM made, generate_series(0, 2) AS position`,
    );
    const { text } = await api.as(user).get('/orders?fields=id,items', NDJSON);
    const orders = linesOf(text) as { id: number; items: { name: string }[] }[];

    expect(orders).toHaveLength(200);
    for (const { id, items } of orders)
      expect(items.map(({ name }) => name)).toEqual(times(3, (at) => `Item ${id}.${at}`));
  });

  it('is compressed by gzip for whoever accepts that, also where brotli is accepted', async () => {
    const url = `${api.url}/api/v1/products`;
    const plain = await api.get('/products', { ...CSV, 'Accept-Encoding': 'identity' });
    const head = `GET /api/v1/products HTTP/1.1\r\nHost: x\r\nAccept: text/csv\r\nConnection: close\r\n`;
    const answer = await fetch(url, { headers: { ...CSV, 'Accept-Encoding': 'br, gzip' } });

    expect(plain.headers.get('content-encoding')).toBeNull();
    expect(answer.headers.get('content-encoding')).toBe('gzip');
    expect(await answer.text()).toBe(plain.text);
    expect(headerOf(await sendRaw(api.app.port, `${head}\r\n`), 'content-encoding')).toBeUndefined();
  });

  it('says what it is, is never stored, and has neither tag nor links', async () => {
    const { headers } = await api.get('/products', NDJSON);

    expect(headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8');
    expect(headers.get('content-disposition')).toBe('attachment; filename="products.ndjson"');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('vary')).toContain('Accept');
    expect(['etag', 'link', 'content-length'].filter((name) => headers.has(name))).toEqual([]);
  });

  it.each([
    ['text/csv', 'text/csv'],
    ['text/csv; charset=utf-8', 'text/csv'],
    ['TEXT/CSV', 'text/csv'],
    ['text/csv, application/json;q=0.9', 'text/csv'],
    ['application/json;q=0.9, application/x-ndjson', 'application/x-ndjson'],
    ['application/json, text/csv', 'application/json'],
    ['text/csv;q=0.5, */*', 'application/json'],
    ['text/csv;q=0, application/json', 'application/json'],
    ['text/csv, application/vnd.api+json;version=2;q=0.1', 'text/csv'],
  ])('is chosen by Accept: %s gets %s', async (accept, type) => {
    const { status, headers } = await api.get('/products?fields=id', { Accept: accept });

    expect(status).toBe(200);
    expect(headers.get('content-type')!.split(';')[0]).toBe(type);
  });

  it.each(['text/csv; charset=latin1', 'text/plain', 'application/ndjson', 'text/csv;q=0'])(
    'is 406 for %s',
    async (accept) => expectError(await api.get('/products', { Accept: accept }), 'NOT_ACCEPTABLE'),
  );

  it.each(['/products/1', '/users/profile'])('is for collections alone: %s is 406', async (path) => {
    expectError(await api.as(user).get(path, CSV), 'NOT_ACCEPTABLE');
  });

  it('of an unversioned path has the version of the path without one', async () => {
    expectError(await api.get('//api/products?cursor=a', CSV), 'VALIDATION_ERROR', { fields: { cursor: 'unknown' } });
    expect((await api.get('//api/products?status=DISCONTINUED', CSV)).text.trim().split('\r\n')).toHaveLength(1);
  });

  it('has no embedded rows: include is 400', async () => {
    expectError(await api.get('/posts?include=user', CSV), 'VALIDATION_ERROR', { fields: { include: 'unknown' } });
  });

  it('answers an error as JSON', async () => {
    expectError(await api.get('/users', CSV), 'UNAUTHORIZED');
    expectError(await api.get('/products?sort=description', CSV), 'VALIDATION_ERROR', { fields: { sort: 'enum' } });
    expectError(await api.get('/posts/4711/comments', CSV), 'NOT_FOUND');
    expect((await api.head('/posts/4711/comments', CSV)).status).toBe(404);
  });

  it('of a post without comments is empty, with a header in CSV', async () => {
    const post = await new Fixtures(api, user).post();
    const csv = await api.get(`/posts/${post.id}/comments`, CSV);
    const ndjson = await api.get(`/posts/${post.id}/comments`, NDJSON);

    expect([csv.status, fieldsOf(csv.text).length]).toEqual([200, 1]);
    expect([ndjson.status, ndjson.text]).toEqual([200, '']);
    expect(csv.headers.get('content-disposition')).toBe('attachment; filename="comments.csv"');
  });

  it('keeps hidden attributes hidden in each row', async () => {
    await api.user();
    const [head, ...lines] = fieldsOf((await api.as(user).get('/users?sort=created_at', CSV)).text);
    const emails = lines.map((line) => line[head.indexOf('email')]);

    expect(emails.filter(Boolean)).toEqual([user.email]);
    expect(lines.length).toBeGreaterThan(1);
    expectError(await api.as(user).get('/users?fields=email', CSV), 'VALIDATION_ERROR', {
      fields: { fields: 'access' },
    });
    expectError(await api.as(user).get('/users?sort=email', CSV), 'VALIDATION_ERROR', { fields: { sort: 'access' } });
  });

  it('has drafts for their author alone', async () => {
    await api.repository(Post).insert({ title: 'a draft', content: 'x', status: PostStatus.DRAFT, user_id: user.id });

    expect((await api.get('/posts', NDJSON)).text).not.toContain('a draft');
    expect((await api.as(user).get('/posts', NDJSON)).text).toContain('a draft');
  });

  it('reads no row for HEAD', async () => {
    const statements = await statementsOf(() => api.head('/products', CSV));
    expect(statements).toEqual([]);
  });

  it('escapes NDJSON like JSON', async () => {
    await new Fixtures(api, user).post({ title: '<script>&\u2028' });
    const { text } = await api.get('/posts?search=script&fields=title', NDJSON);
    expect(text).toBe('{"title":"\\u003cscript\\u003e\\u0026\\u2028"}\n');
  });

  it('runs once at a time for a caller, and as often as there are connections for all: 503', async () => {
    const from = (address: string) => ({ ...CSV, 'X-Forwarded-For': address });
    const hold = async (address: string) => {
      const connection = await RawConnection.open(api.app.port);
      connection.write(
        `GET /api/v1/posts HTTP/1.1\r\nHost: x\r\nAccept: text/csv\r\nX-Forwarded-For: ${address}\r\n\r\n`,
      );
      await connection.stall();
      return connection;
    };
    const content = 'x'.repeat(50_000);
    await api.repository(Post).insert(times(200, (index) => ({ title: `Long ${index}`, content, user_id: user.id })));

    const held = [await hold('192.0.2.1')];
    expectError(await api.get('/products', from('192.0.2.1')), 'SERVICE_UNAVAILABLE');
    expect((await api.get('/products', from('192.0.2.2'))).status).toBe(200);
    expect((await api.as(user).get('/products', from('192.0.2.1'))).status).toBe(200);
    held.push(await hold('192.0.2.2'));
    const refused = await api.get('/products', from('192.0.2.3'));
    expectError(refused, 'SERVICE_UNAVAILABLE');
    expect(refused.headers.get('retry-after')).toBe('10');
    expect((await api.get('/products', from('198.51.100.1'))).status).toBe(200);
    held.push(await hold('198.51.100.1'));
    expectError(await api.get('/products', from('203.0.113.1')), 'SERVICE_UNAVAILABLE');
    expect((await api.get('/products?page=0', { 'X-Forwarded-For': '192.0.2.1' })).status).toBe(200);
    held.forEach((connection) => connection.destroy());
  });
});
