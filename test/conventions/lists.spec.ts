import { DataSource } from 'typeorm';
import { paginate } from '../../src/platform/lists/paginate';
import { times } from '../../src/platform/testing';
import { Product, ProductStatus } from '../../src/resources/products/product.entity';
import { Fixtures } from '../support/fixtures';
import { type TestUser, useTestApi } from '../support/test-api';

/** Every rule of a collection, on one of them; `matrix.spec.ts` asks the others whether they keep to it. */
describe('a collection', () => {
  const api = useTestApi();
  let admin: TestUser;
  const list = (query = '') => api.as(admin).get(`/users${query}`);
  const names = ({ body }: Awaited<ReturnType<typeof list>>) => body.data.map(({ username }: TestUser) => username);

  beforeAll(async () => {
    const letters = 'kfcbamhlgejdi'.split('');
    for (const [index, letter] of letters.entries()) {
      await api.user({
        username: `${letter}${letter}${letter}`,
        name: ['Odd_one', 'Even%one', 'Back\\slash'][index % 3],
      });
    }
    admin = await api.admin({ username: 'zzz', name: 'Éva' });
  });

  it('answers a page with its pagination', async () => {
    const answer = await list();

    expect(answer.status).toBe(200);
    expect(Object.keys(answer.body)).toEqual(['code', 'message', 'data', 'pagination', 'timestamp']);
    expect(answer.body.data).toHaveLength(14);
    expect(answer.body.pagination).toEqual({ page: 0, size: 20, total: 14, totalPages: 1 });
  });

  it('cuts pages that neither overlap nor skip, whatever it sorts by', async () => {
    for (const sort of ['id', 'username', 'name', 'status', 'created_at', 'updated_at', 'email']) {
      for (const order of ['asc', 'desc']) {
        const pages = await Promise.all(times(4, (page) => list(`?sort=${sort}&order=${order}&size=4&page=${page}`)));
        const ids = pages.flatMap(({ body }) => body.data.map(({ id }: TestUser) => id));
        expect(new Set(ids).size).toBe(14);
        expect(ids).toHaveLength(14);
      }
    }
  });

  it('sorts in both directions', async () => {
    const sorted = [...'abcdefghijklm'].map((letter) => letter.repeat(3)).concat('zzz');

    expect(names(await list('?sort=username'))).toEqual(sorted);
    expect(names(await list('?sortBy=username&order=desc'))).toEqual([...sorted].reverse());
  });

  it('answers an empty page past the end', async () => {
    expect(await list('?page=2147483647&size=100')).toMatchObject({
      status: 200,
      body: { data: [], pagination: { page: 2_147_483_647, size: 100, total: 14, totalPages: 1 } },
    });
  });

  it('links to the first, previous, next and last page with all other parameters', async () => {
    // every-link.spec.ts has the links to the page itself and to its document, which follow.
    const link = async (query: string) =>
      (await list(query)).headers.get('link')!.replace(/, [^,]*; rel="self".*$/, '');
    const to = (page: number, relation: string) => `</api/v1/users?size=5&order=desc&page=${page}>; rel="${relation}"`;

    expect(await link('?size=5&order=desc')).toBe([to(0, 'first'), to(1, 'next'), to(2, 'last')].join(', '));
    expect(await link('?size=5&order=desc&page=1')).toBe(
      [to(0, 'first'), to(0, 'prev'), to(2, 'next'), to(2, 'last')].join(', '),
    );
    expect(await link('?size=5&order=desc&page=2')).toBe([to(0, 'first'), to(1, 'prev'), to(2, 'last')].join(', '));
    expect(await link('?size=5&order=desc&page=9')).toBe([to(0, 'first'), to(2, 'prev'), to(2, 'last')].join(', '));
    expect(await link('?search=nobody')).toBe(
      '</api/v1/users?search=nobody&page=0>; rel="first", </api/v1/users?search=nobody&page=0>; rel="last"',
    );
  });

  it('takes limit for size and sortBy for sort, but not two different values', async () => {
    expect((await list('?limit=3')).body.pagination.size).toBe(3);
    expect((await list('?limit=3&size=3')).body.pagination.size).toBe(3);
    expect(await list('?limit=3&size=4')).toMatchObject({
      status: 400,
      body: { error: { fields: [{ field: 'limit' }] } },
    });
    expect(await list('?sort=id&sortBy=id')).toMatchObject({ status: 200 });
    expect(await list('?sort=id&sortBy=name')).toMatchObject({ status: 400 });
  });

  it('finds text in any case, and takes wildcards for ordinary characters', async () => {
    const found = async (search: string) => (await list(`?search=${encodeURIComponent(search)}`)).body.pagination.total;

    expect(await found('AAA')).toBe(1);
    expect(await found('dd_ON')).toBe(5);
    expect(await found('n%o')).toBe(4);
    expect(await found('k\\s')).toBe(4);
    expect(await found('%')).toBe(4);
    expect(await found('_')).toBe(5);
    expect(await found('\\')).toBe(4);
    expect(await found("'; DROP TABLE users; --")).toBe(0);
    expect(await found('E\u0301VA')).toBe(1);
    expect(await found('x'.repeat(100))).toBe(0);
    expect(await found('😀'.repeat(100))).toBe(0);
  });

  it('filters by status, alone and with a search', async () => {
    await api.user({ username: 'status-test', status: 'SUSPENDED' as never });

    expect(names(await list('?status=SUSPENDED'))).toEqual(['status-test']);
    expect(names(await list('?status=SUSPENDED&search=aaa'))).toEqual([]);
    await api.as(admin).delete(`/users/${(await list('?status=SUSPENDED')).body.data[0].id}`);
  });

  it('returns exactly the fields asked for, in the order of the resource', async () => {
    expect((await list('?fields=username,id&search=aaa')).body.data).toEqual([
      { id: expect.any(Number), username: 'aaa' },
    ]);
    expect(Object.keys((await list('?fields=name,username,created_at')).body.data[0])).toEqual([
      'created_at',
      'username',
      'name',
    ]);
    expect((await api.as(admin).get(`/users/${admin.id}?fields=roles`)).body.data).toEqual({
      roles: ['USER', 'ADMIN'],
    });
  });

  it.each([
    ['page=-1', 'page', 'range'],
    ['page=1.0', 'page', 'range'],
    ['page=1e1', 'page', 'range'],
    ['page=0x1', 'page', 'range'],
    ['page=01', 'page', 'range'],
    ['page=%201', 'page', 'range'],
    ['page=', 'page', 'range'],
    ['page=2147483648', 'page', 'range'],
    ['page=99999999999999999999', 'page', 'range'],
    ['size=0', 'size', 'range'],
    ['size=101', 'size', 'range'],
    ['limit=0', 'limit', 'range'],
    ['sort=password_hash', 'sort', 'enum'],
    ['sort=id;DROP', 'sort', 'enum'],
    ['sort=', 'sort', 'enum'],
    ['sortBy=constructor', 'sortBy', 'enum'],
    ['order=DESC', 'order', 'enum'],
    ['order=random()', 'order', 'enum'],
    ['status=GONE', 'status', 'enum'],
    ['status=', 'status', 'enum'],
    ['search=', 'search', 'length'],
    ['search=%20%20', 'search', 'length'],
    [`search=${'x'.repeat(101)}`, 'search', 'length'],
    ['search=a%00b', 'search', 'characters'],
    ['fields=', 'fields', 'enum'],
    ['fields=id,,name', 'fields', 'enum'],
    ['fields=password_hash', 'fields', 'enum'],
    ['fields=__proto__', 'fields', 'enum'],
    ['unknown=1', 'unknown', 'unknown'],
    ['pageSize=5', 'pageSize', 'unknown'],
    ['page=0&page=1', 'page', 'once'],
    ['page[]=1', 'page[]', 'unknown'],
    ['search=%ff', 'search', 'encoding'],
  ])('refuses ?%s', async (query, field, rule) => {
    const answer = await list(`?${query}`);

    expect(answer).toMatchObject({ status: 400, body: { error: { code: 'VALIDATION_ERROR' } } });
    expect(answer.body.error.fields).toContainEqual({ field, rule, message: expect.any(String) });
  });

  it('reads a page in two statements, and no column that nobody asked for', async () => {
    const logged: string[] = [];
    const { logger } = api.app.nest.get(DataSource);
    const spy = jest.spyOn(logger, 'logQuery').mockImplementation((text: string) => void logged.push(text));

    await list('?fields=username&search=a&sort=name');
    spy.mockRestore();

    const statements = logged.filter((text) => !text.includes('FROM sessions'));
    expect(statements).toHaveLength(2);
    const rows = statements.find((text) => !text.includes('count(*)'))!;
    expect(rows.split(' FROM ')[0]).toBe(
      'SELECT "resource"."id" AS "resource_id", "resource"."username" AS "resource_username"',
    );
    expect(statements.join()).not.toContain("'a'");
  });

  it('of one status for its service has no other, whichever a caller asks for', async () => {
    const own = new Fixtures(api, admin);
    const active = await own.product({ name: 'Both' });
    await own.product({ name: 'Both', status: 'DISCONTINUED' });
    const filter = { status: ProductStatus.ACTIVE };
    const products = api.repository(Product);
    const found = async (query: object) => {
      const { data, pagination } = await paginate(products, query, { filter, searchable: ['name'] });
      return [data.map(({ id }) => id), 'total' in pagination && pagination.total];
    };

    for (const search of [undefined, 'both']) {
      expect(await found({ search })).toEqual([[active.id], 1]);
      expect(await found({ search, status: 'ACTIVE' })).toEqual([[active.id], 1]);
      expect(await found({ search, status: 'DISCONTINUED' })).toEqual([[], 0]);
    }
  });
});
