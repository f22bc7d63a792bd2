import { Client, query, type TestApp, times } from '../../src/platform/testing';
import { DEMO_PASSWORD, demoUsers } from '../../src/demo/content';
import { DemoAccounts } from '../../src/demo/demo-accounts';
import { demoProducts } from '../../src/demo/products';
import { TestApi, useTestApi } from '../support/test-api';
import { startApp } from '../support/test-app';

const withDemoData = { DEMO_DATA: 'true' };
const TABLES = ['users', 'products', 'orders', 'order_items', 'posts', 'comments', 'replies'];

/** The attributes of any resource. A test reads those that its resource has. */
interface Attributes {
  id: number;
  created_at: string;
  name: string;
  content: string;
  status: string;
  roles: string[];
  price: number;
  stock: number;
  items: { product_id: number; name: string; unit_price: number }[];
}

/** Every row of the database, but for the hashes of passwords, which are salted. */
async function everything({ databaseUrl }: TestApp): Promise<Record<string, unknown[]>> {
  const rows = TABLES.map(async (table) => {
    const key = table === 'order_items' ? 'order_id, position' : 'id';
    const json = await query(
      databaseUrl,
      `SELECT to_jsonb(t) - 'password_hash' AS row FROM ${table} t ORDER BY ${key}`,
    );
    return [table, json.map(({ row }) => row)] as const;
  });
  return Object.fromEntries(await Promise.all(rows));
}

describe('Demo data', () => {
  const api = useTestApi({ settings: withDemoData });
  let ada: Client;
  let grace: Client;

  const signIn = (username: string) => api.post('/auth/tokens', { username, password: DEMO_PASSWORD });
  const client = async (username: string) => api.as({ token: (await signIn(username)).body.data.access_token });
  const all = async (path: string, caller: Client = grace): Promise<Attributes[]> =>
    (await caller.get(`${path}?size=100`)).body.data;
  const statusesOf = (rows: Attributes[]) => [...new Set(rows.map(({ status }) => status))].sort();

  beforeAll(async () => {
    [ada, grace] = await Promise.all([client('ada'), client('grace')]);
  });

  it('is large enough to explore', async () => {
    const { users, products, posts, orders, comments, replies } = await everything(api.app);

    expect([users, products, posts].map(({ length }) => length)).toEqual([5, 12, 10]);
    expect(orders.length).toBeGreaterThanOrEqual(8);
    expect(comments.length).toBeGreaterThanOrEqual(10);
    expect(replies.length).toBeGreaterThanOrEqual(5);
  });

  it('has users who can sign in, an administrator, and one who is suspended', async () => {
    const answers = await Promise.all(demoUsers.map(({ username }) => signIn(username)));
    const roles = (await all('/users')).map(({ roles }) => roles.join());

    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201, 401]);
    expect(roles).toEqual(['USER', 'USER,ADMIN', 'USER', 'USER', 'USER']);
    expect(statusesOf(await all('/users'))).toEqual(['ACTIVE', 'SUSPENDED']);
  });

  it('has products of both statuses, some with cents and some out of stock', async () => {
    const products = await all('/products');
    const emptied = products.filter(({ stock, status }) => !stock && status === 'ACTIVE');

    expect(statusesOf(products)).toEqual(['ACTIVE', 'DISCONTINUED']);
    expect(products.some(({ price }) => !Number.isInteger(price))).toBe(true);
    expect(emptied.length).toBeGreaterThanOrEqual(2);
  });

  it('has orders in every status, each the exact sum of what was frozen in it', async () => {
    const orders = await all('/orders');
    const products = new Map((await all('/products')).map((product) => [product.id, product]));
    const sums = await query(
      api.app.databaseUrl,
      `SELECT order_id, sum(quantity * unit_price) = total_amount AS exact
         FROM orders JOIN order_items ON order_id = id GROUP BY order_id, total_amount ORDER BY order_id`,
    );

    expect(statusesOf(orders)).toEqual(['CANCELLED', 'DELIVERED', 'PAID', 'PENDING', 'SHIPPED']);
    expect(sums).toEqual(orders.map(({ id }) => ({ order_id: id, exact: true })));
    for (const { product_id, name, unit_price } of orders.flatMap(({ items }) => items)) {
      expect(products.get(product_id)).toMatchObject({ name, price: unit_price });
    }
  });

  it('has taken the stock of every order that was not cancelled', async () => {
    const rows = await query(
      api.app.databaseUrl,
      `SELECT name, (stock + (SELECT coalesce(sum(quantity), 0) FROM order_items JOIN orders ON order_id = orders.id
                               WHERE product_id = products.id AND status <> 'CANCELLED'))::int AS stocked
         FROM products ORDER BY id`,
    );

    expect(rows).toEqual(demoProducts.map(({ name, stocked }) => ({ name, stocked })));
  });

  it('has drafts that only their authors and administrators see, and texts of several lines', async () => {
    const total = async (caller: Client) => (await caller.get('/posts?status=DRAFT')).body.pagination.total;

    expect(await Promise.all([api, ada, grace].map(total))).toEqual([0, 1, 2]);
    expect((await all('/posts')).filter(({ content }) => content.includes('\n')).length).toBe(7);
  });

  it('has conversations: replies to comments on posts that everybody sees', async () => {
    const drafts = await query(
      api.app.databaseUrl,
      `SELECT FROM comments JOIN posts ON posts.id = post_id WHERE posts.status = 'DRAFT'`,
    );

    expect(drafts).toEqual([]);
    expect(await all('/posts/1/comments', api)).not.toEqual([]);
    expect((await api.get('/replies?commentId=1')).body.data).not.toEqual([]);
  });

  it('sorts by creation otherwise than by id, and in the past', async () => {
    for (const path of ['/users', '/products', '/orders', '/posts']) {
      const sorted: Attributes[] = (await grace.get(`${path}?sort=created_at&fields=id,created_at`)).body.data;
      const ids = sorted.map(({ id }) => id);
      expect(ids).not.toEqual([...ids].sort((a, b) => a - b));
      expect(new Set(sorted.map(({ created_at }) => created_at)).size).toBe(ids.length);
      expect(Date.parse(sorted.at(-1)!.created_at)).toBeLessThan(Date.now());
    }
  });

  it('lets nobody answer what is not written yet', async () => {
    const early = await query(
      api.app.databaseUrl,
      `SELECT 'comment' FROM comments c JOIN posts p ON p.id = post_id WHERE c.created_at <= p.created_at
       UNION ALL SELECT 'reply' FROM replies r JOIN comments c ON c.id = comment_id WHERE r.created_at <= c.created_at
       UNION ALL SELECT 'post' FROM posts p JOIN users u ON u.id = user_id WHERE p.created_at < u.created_at
       UNION ALL SELECT 'comment' FROM comments c JOIN users u ON u.id = user_id WHERE c.created_at < u.created_at
       UNION ALL SELECT 'order' FROM orders o JOIN users u ON u.id = user_id WHERE o.created_at < u.created_at
       UNION ALL SELECT 'item' FROM order_items JOIN orders o ON o.id = order_id JOIN products p ON p.id = product_id
                  WHERE o.created_at < p.created_at`,
    );

    expect(early).toEqual([]);
  });

  it('holds nothing that the API itself would have refused or altered', async () => {
    const before = await everything(api.app);
    const answers = [];
    for (const user of await all('/users')) answers.push(await grace.put(`/users/${user.id}`, user));
    for (const product of await all('/products')) answers.push(await grace.put(`/products/${product.id}`, product));
    for (const post of await all('/posts')) {
      answers.push(await grace.put(`/posts/${post.id}`, { ...post, user_id: undefined }));
    }
    for (const [path, rows] of [
      ['/comments', before.comments],
      ['/replies', before.replies],
    ] as const) {
      for (const { id, content } of rows as Attributes[]) {
        answers.push(await grace.patch(`${path}/${id}`, { content }));
      }
    }

    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
    expect(await everything(api.app)).toEqual(before);
  });

  it('is the same in every database, and added once, however many start at once and however often', async () => {
    const other = new TestApi();
    other.app = await startApp();
    try {
      const options = { databaseUrl: other.app.databaseUrl, settings: withDemoData };
      const instances = await Promise.all(times(2, () => startApp(options)));
      await Promise.all(instances.map((instance) => instance.stop()));
      const first = await everything(other.app);
      await (await startApp(options)).stop();

      expect(await everything(other.app)).toEqual(first);
      expect(first).toEqual(await everything(api.app));
    } finally {
      await other.app.stop();
    }
  });

  it('comes beside the administrator of the settings, who is made first', async () => {
    const other = new TestApi();
    const administrator = { ADMIN_USERNAME: 'root', ADMIN_EMAIL: 'root@example.com', ADMIN_PASSWORD: 'long enough' };
    other.app = await startApp({ settings: { ...withDemoData, ...administrator } });
    try {
      const { users, products } = await everything(other.app);

      expect([users.length, products.length]).toEqual([demoUsers.length + 1, demoProducts.length]);
      expect(users[0]).toMatchObject({ username: 'root', roles: ['ADMIN'] });
      expect(other.app.nest.get(DemoAccounts).offered).toBe(true);
      for (const [username, password] of [
        ['root', 'long enough'],
        ['ada', DEMO_PASSWORD],
        ['grace', DEMO_PASSWORD],
      ]) {
        expect(await other.post('/auth/tokens', { username, password })).toMatchObject({ status: 201 });
      }
    } finally {
      await other.app.stop();
    }
  });

  it.each([
    { ADMIN_USERNAME: 'Grace', ADMIN_EMAIL: 'root@example.com' },
    { ADMIN_USERNAME: 'root', ADMIN_EMAIL: 'ADA@example.com' },
  ])('stays away where the administrator has a name of it, and says so: %j', async (names) => {
    const other = await startApp({ settings: { ...withDemoData, ...names, ADMIN_PASSWORD: 'long enough' } });
    try {
      const { users, products } = await everything(other);

      expect([users.length, products.length]).toEqual([1, 0]);
      expect(other.log).toContainEqual(expect.objectContaining({ msg: expect.stringContaining('no demo data') }));
      expect(other.nest.get(DemoAccounts).offered).toBe(false);
    } finally {
      await other.stop();
    }
  });

  it('leaves alone what is not empty, even if all that there was is hidden', async () => {
    const other = new TestApi();
    other.app = await startApp();
    try {
      const only = await other.user();
      await other.as(only).delete(`/users/${only.id}`);
      await (await startApp({ databaseUrl: other.app.databaseUrl, settings: withDemoData })).stop();

      const { users, products } = await everything(other.app);
      expect([users.length, products.length]).toEqual([1, 0]);
    } finally {
      await other.app.stop();
    }
  });
});
