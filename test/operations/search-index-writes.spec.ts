import { DataSource } from 'typeorm';
import { Fixtures } from '../support/fixtures';
import { type TestUser, useTestApi } from '../support/test-api';

/** Each three characters of it are others. */
const LONG = String.fromCodePoint(...Array.from({ length: 20_000 }, (_, index) => 0x4e00 + index));
const AS_LONG = [...LONG].reverse().join('');

describe('A write of a long text', () => {
  const api = useTestApi();
  let user: TestUser;
  let own: Fixtures;

  beforeAll(async () => {
    user = await api.user();
    own = new Fixtures(api, user);
  });

  /** What is left for the next who writes, in pages of the index. */
  async function leftIn(index: string): Promise<number> {
    const text = `SELECT gin_clean_pending_list('${index}')::integer AS pages`;
    const [{ pages }] = await api.app.nest.get(DataSource).query<{ pages: number }[]>(text);
    return pages;
  }

  const asUser = () => api.as(user);
  const content = LONG.slice(0, 5_000);

  it.each([
    ['a post', 'posts_content_search', () => asUser().post('/posts', { title: 'A title', content: LONG + AS_LONG })],
    ['its title', 'posts_title_search', () => asUser().post('/posts', { title: LONG.slice(0, 200), content: 'A' })],
    [
      'the status of a post',
      'posts_content_search',
      async () => {
        const { id } = await own.post({ content: LONG });
        await leftIn('posts_content_search');
        return asUser().patch(`/posts/${id}`, { status: 'DRAFT' });
      },
    ],
    [
      'a comment',
      'comments_content_search',
      async () => asUser().post(`/posts/${(await own.post()).id}/comments`, { content }),
    ],
    [
      'a reply',
      'replies_content_search',
      async () => asUser().post('/replies', { comment_id: (await own.comment()).id, content }),
    ],
  ])('leaves none of its cost to who writes next: %s', async (_what, index, write) => {
    await leftIn(index);
    expect((await write()).status).toBeLessThan(300);

    expect(await leftIn(index)).toBe(0);
  });
});

describe('The searched texts of a product', () => {
  const api = useTestApi();
  const query = <T>(text: string) => api.app.nest.get(DataSource).query<T[]>(text);

  /** Where the texts stand. A row that is written anew stands elsewhere. */
  async function placeOf(product: number): Promise<string> {
    const [{ place }] = await query<{ place: string }>(
      `SELECT ctid::text AS place FROM product_texts WHERE product_id = ${product}`,
    );
    return place;
  }

  async function found(search: string): Promise<unknown[]> {
    const { data } = (await api.get(`/products?search=${encodeURIComponent(search)}`)).body as { data: object[] };
    return data.map((product) => 'id' in product && product.id);
  }

  it('are not written again by an order, though it changes the row of the product', async () => {
    const [admin, user] = [await api.admin(), await api.user()];
    const input = { name: 'Cup', description: LONG.slice(0, 2_000), price: 1, stock: 10 };
    const { id } = (await api.as(admin).post('/products', input)).body.data as { id: number };
    const before = await placeOf(id);
    const order = await api.as(user).post('/orders', { items: [{ product_id: id, quantity: 1 }] });
    expect(order.status).toBe(201);
    const { id: orderId } = order.body.data as { id: number };
    expect(await api.as(user).patch(`/orders/${orderId}/status`, { status: 'CANCELLED' })).toMatchObject({
      status: 200,
    });

    expect(await placeOf(id)).toBe(before);
    expect(await found(LONG.slice(1_000, 1_050))).toEqual([id]);
  });

  it('follow each change of the product', async () => {
    const admin = api.as(await api.admin());
    const { id } = (await admin.post('/products', { name: 'Purple teapot', price: 1 })).body.data as { id: number };
    await admin.patch(`/products/${id}`, { description: 'Of porcelain' });
    expect(await found('PORCELAIN')).toEqual([id]);

    await admin.put(`/products/${id}`, { name: 'Green kettle', price: 1 });
    expect(await found('porcelain')).toEqual([]);
    expect(await found('purple teapot')).toEqual([]);
    expect(await found('green kettle')).toEqual([id]);

    await query(`UPDATE products SET name = 'Yellow kettle' WHERE id = ${id}`);
    expect(await found('yellow')).toEqual([id]);
    await query(`UPDATE products SET id = id + 1000000 WHERE id = ${id}`);
    expect(await found('yellow')).toEqual([id + 1_000_000]);
    await admin.delete(`/products/${id + 1_000_000}`);
    expect(await found('yellow')).toEqual([]);
  });

  it('go with the row of the product', async () => {
    const texts = async () => (await query<{ name: string }>('SELECT name FROM product_texts')).map(({ name }) => name);
    await query(`INSERT INTO products (name, price) VALUES ('Copper pan', 1), ('Iron pan', 1)`);
    await query(`DELETE FROM products WHERE name = 'Copper pan'`);
    expect(await texts()).toContain('Iron pan');
    expect(await texts()).not.toContain('Copper pan');

    await query('TRUNCATE products CASCADE');
    expect(await texts()).toEqual([]);
  });
});
