import { DataSource } from 'typeorm';
import { type Answer, atOnce, type Client, expectError, times } from '../../src/platform/testing';
import { Fixtures, insert } from '../support/fixtures';
import { useTestApi } from '../support/test-api';

interface Item {
  id: number;
}

const idsOf = ({ body }: Answer): number[] => body.data.map(({ id }: Item) => id);

describe('A cursor', () => {
  const api = useTestApi();
  let admin: Client;
  let own: Fixtures;

  beforeAll(async () => {
    admin = api.as(await api.admin());
    own = new Fixtures(api, await api.user());
    const post = await own.post();
    const comment = await own.comment({}, post);
    for (let index = 0; index < 7; index++) {
      // Each value stands in several rows, so that only the id can tell those apart.
      const dates = { created_at: `2020-01-0${1 + (index % 3)}`, updated_at: `2020-02-0${1 + (index % 2)}` };
      const product = await own.product({ ...dates, price: 5 + (index % 2), stock: index % 3 });
      await own.order({ ...dates, total_amount: index % 3 }, product);
      await own.upload({ ...dates, filename: index % 2 ? null : 'same' });
      await own.post({ ...dates, title: `Same ${index % 2}` });
      await own.comment(dates, post);
      await own.reply(dates, comment);
      await api.user({ name: index % 2 ? null : 'Same name' });
    }
  });

  const list = (path: string, query = '', client = admin) => client.get(`//api/v2${path}${query}`);
  const query = (text: string) => api.app.nest.get(DataSource).query<Item[]>(text);

  it('stands beside the size and nothing else', async () => {
    const { body } = await list('/products', '?size=2');
    expect(body.pagination).toEqual({ size: 2, next: expect.any(String), previous: null });
    const all = await list('/products', '?limit=100');
    expect(all.body.pagination).toEqual({ size: 100, next: null, previous: null });
    expect((await list('/products')).body.pagination.size).toBe(20);
  });

  it('is what the links of a page lead by', async () => {
    const first = await list('/products', '?size=2&order=desc');
    const second = await admin.get(`/${linksOf(first).next}`);

    expect(Object.keys(linksOf(first))).toEqual(['first', 'next', 'self', 'describedby']);
    expect(Object.keys(linksOf(second))).toEqual(['first', 'prev', 'next', 'self', 'describedby']);
    expect(idsOf(await admin.get(`/${linksOf(second).prev}`))).toEqual(idsOf(first));
    expect(idsOf(await admin.get(`/${linksOf(second).first}`))).toEqual(idsOf(first));
  });

  it('skips and repeats nothing while others insert and delete', async () => {
    const mine = await Promise.all(times(12, (index) => own.product({ name: `Walk ${index % 4}`, price: 3 })));
    const walk = '?search=walk&sort=name&size=2';
    const seen: number[] = [];
    const gone: number[] = [];
    for (let cursor = ''; ;) {
      const page = await list('/products', `${walk}${cursor}`);
      seen.push(...idsOf(page));
      if (page.body.pagination.next === null) break;
      cursor = `&cursor=${page.body.pagination.next}`;
      // The very item that the cursor stands next to goes away, another appears before it, and one after it.
      gone.push(seen.at(-1)!);
      await query(`DELETE FROM products WHERE id = ${seen.at(-1)}`);
      await own.product({ name: 'Walk 0', price: 3 });
      await own.product({ name: 'Walk 9', price: 3 });
    }

    expect(new Set(seen).size).toBe(seen.length);
    expect(mine.filter(({ id }) => !seen.includes(id))).toEqual([]);
    expect(gone.length).toBeGreaterThan(5);
  });

  it('leads back from a page that has become empty', async () => {
    const products = await Promise.all(times(4, () => own.product({ name: 'Vanishing' })));
    const ids = products.map(({ id }) => id).sort((one, other) => one - other);
    const first = await list('/products', '?search=vanishing&size=2');
    await query(`DELETE FROM products WHERE id IN (${ids.slice(2).join()})`);

    const empty = await list('/products', `?search=vanishing&size=2&cursor=${first.body.pagination.next}`);
    expect(empty.body).toMatchObject({ data: [], pagination: { next: null } });
    const back = await list('/products', `?search=vanishing&size=2&cursor=${empty.body.pagination.previous}`);
    expect(idsOf(back)).toEqual(ids.slice(0, 2));
  });

  it('holds for the list that it was made for, whatever is shown of it', async () => {
    const path = '/products';
    const base = 'sort=price&order=desc&status=ACTIVE&search=p&size=2';
    const { next } = (await list(path, `?${base}`)).body.pagination;
    const same = [base, `${base}&fields=id`, base.replace('size=2', 'limit=50'), base.replace('sort=', 'sortBy=')];
    await atOnce(same, async (one) => expect((await list(path, `?${one}&cursor=${next}`)).status).toBe(200));

    const others = [
      base.replace('sort=price', 'sort=name'),
      base.replace('&order=desc', ''),
      base.replace('&status=ACTIVE', ''),
      base.replace('status=ACTIVE', 'status=DISCONTINUED'),
      base.replace('search=p', 'search=q'),
      'size=2',
    ];
    await atOnce(others, async (one) =>
      expectError(await list(path, `?${one}&cursor=${next}`), 'VALIDATION_ERROR', { fields: { cursor: 'cursor' } }),
    );
    const elsewhere = await list(`/posts`, `?cursor=${(await list('/products', '?size=1')).body.pagination.next}`);
    expectError(elsewhere, 'VALIDATION_ERROR', { fields: { cursor: 'cursor' } });
  });

  it('is opaque, signed, and refused when it was altered', async () => {
    const { next } = (await list('/products', '?size=2')).body.pagination as { next: string };
    const altered = [
      ...times(next.length, (at) => next.slice(0, at) + (next[at] === 'A' ? 'B' : 'A') + next.slice(at + 1)),
      next.slice(0, -4),
      `${next}AAAA`,
      `${next}=`,
      `${next}%20x`,
      '',
      'x',
      '%00',
      'x'.repeat(5000),
      Buffer.from('[1,1,false]').toString('base64url'),
    ];
    const answers = await Promise.all(altered.map((cursor) => list('/products', `?size=2&cursor=${cursor}`)));

    expect(answers.filter(({ status }) => status !== 400)).toEqual([]);
    for (const answer of answers) expectError(answer, 'VALIDATION_ERROR');
  });

  it('says nothing of what it was made from, in the page or in its links', async () => {
    const address = 'zz.private@example.com';
    await api.user({ email: address });
    const page = await list('/users', '?sort=email&order=desc&size=1');
    expect(page.body.data[0].email).toBe(address);
    const { next } = page.body.pagination as { next: string };
    const again = (await list('/users', '?sort=email&order=desc&size=1')).body.pagination.next as string;

    for (const cursor of [next, new URL(`http://x/${linksOf(page).next}`).searchParams.get('cursor')!]) {
      const bytes = Buffer.from(cursor, 'base64url').toString('latin1');
      for (const part of [address, 'private', 'example', String(page.body.data[0].id)])
        expect(bytes).not.toContain(part);
    }
    expect(next).not.toBe(again);
    // Short enough for a URL: the address, the id, and forty bytes that hide and seal them.
    expect(next.length).toBeLessThan(100);
  });

  it('is refused in the hands of another who may not see the same', async () => {
    const { next } = (await list('/posts', '?size=2')).body.pagination as { next: string };
    expect((await list('/posts', `?size=2&cursor=${next}`)).status).toBe(200);
    const others = [api.as(await api.user()), api];
    await atOnce(others, async (other) =>
      expectError(await list('/posts', `?size=2&cursor=${next}`, other), 'VALIDATION_ERROR', {
        fields: { cursor: 'cursor' },
      }),
    );
  });

  it('belongs to version 2, and page to version 1', async () => {
    expectError(await list('/products', '?page=0'), 'VALIDATION_ERROR', { fields: { page: 'unknown' } });
    expectError(await admin.get('/products?cursor=x'), 'VALIDATION_ERROR', { fields: { cursor: 'unknown' } });
    expectError(await list('/products', '?page=0&colour=red'), 'VALIDATION_ERROR');
  });

  it('does not say what the caller may not know', async () => {
    const user = api.as(own.owner);
    const { next } = (await list('/users', '?sort=email&size=2')).body.pagination;
    expectError(await list('/users', `?sort=email&size=2&cursor=${next}`, user), 'VALIDATION_ERROR');
    const orders = await list('/orders', '?size=2', api.as(await api.user()));
    expect(orders.body.data).toEqual([]);
  });

  it('costs the same at any depth', async () => {
    await query(`INSERT INTO products (name, price) SELECT 'Deep ' || n, n FROM generate_series(1, 20000) AS n`);
    await query('ANALYZE products');
    const costOf = async (at: number) => {
      const row = (await insert(api, 'products', { name: `Deep ${at}`, price: at })) as { id: number };
      const [plan] = await api.app.nest.get(DataSource).query<{ 'QUERY PLAN': string }[]>(
        `EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) SELECT id FROM products
          WHERE deleted_at IS NULL AND (price, id) > ($1, $2) ORDER BY price, id LIMIT 21`,
        [at, row.id],
      );
      return (plan['QUERY PLAN'] as never as { Plan: Record<string, number> }[])[0].Plan['Shared Hit Blocks'];
    };

    expect(await costOf(19_000)).toBeLessThan(2 * (await costOf(10)) + 20);
  });
});

/** Where a `Link` header leads, by relation. */
function linksOf({ headers }: Answer): Record<string, string> {
  const links = headers.get('link')!.matchAll(/<([^>]+)>; rel="(\w+)"/g);
  return Object.fromEntries([...links].map(([, target, relation]) => [relation, target]));
}
