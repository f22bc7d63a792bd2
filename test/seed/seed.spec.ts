import { type ClassConstructor, plainToInstance } from 'class-transformer';
import { validate } from 'class-validator';
import { Client } from 'pg';
import { createDatabase, dropDatabase, query, waitFor } from '../../src/platform/testing';
import { CreateCommentDto } from '../../src/resources/comments/comment.dto';
import { CreatePostDto } from '../../src/resources/posts/post.dto';
import { CreateProductDto } from '../../src/resources/products/product.dto';
import { CreateReplyDto } from '../../src/resources/replies/reply.dto';
import { CreateUserDto } from '../../src/resources/users/user.dto';
import { copyRows } from '../../src/seed/copy-rows';
import type { Progress } from '../../src/seed/progress';
import { seedDatabase, type SeedSummary } from '../../src/seed/seed-database';
import { type TestUser, useTestApi } from '../support/test-api';

type Row = Record<string, unknown>;
type Table = keyof typeof counts | 'order_items';

const counts = { users: 80, products: 60, orders: 250, posts: 150, comments: 300, replies: 150 };
const silent: Progress = { begin: () => undefined, advance: () => undefined, end: () => undefined };

/** More batches than there are connections, so that they end in any order. */
const seed = (url: string, number: number, progress = silent): Promise<SeedSummary> =>
  seedDatabase(url, { counts, seed: number, passwordHash: null, batchSize: 13 }, progress);

/** All rows, but for their dates, which are counted from now. */
async function rowsOf(url: string): Promise<Record<Table, Row[]>> {
  const tables = [...Object.keys(counts), 'order_items'].map(async (table) => {
    const key = table === 'order_items' ? 'order_id, position' : 'id';
    const undated = `to_jsonb(${table}) - '{created_at,updated_at}'::text[]`;
    const rows = await query(url, `SELECT ${undated} AS row FROM ${table} ORDER BY ${key}`);
    return [table, rows.map(({ row }) => row as Row)] as const;
  });
  return Object.fromEntries(await Promise.all(tables)) as Record<Table, Row[]>;
}

const withoutIds = (rows: Row[]): Row[] =>
  rows.map((row) => Object.fromEntries(Object.entries(row).filter(([name]) => !/id$|username|email/.test(name))));

let databases = 0;

/** A migrated, empty database, for as long as `work` takes. */
async function withAnotherDatabase(work: (url: string) => Promise<void>): Promise<void> {
  const { TEST_SERVER_URL, TEST_DATABASE_PREFIX } = process.env;
  const name = `${TEST_DATABASE_PREFIX}_seed_${process.pid}_${databases++}`;
  await work(await createDatabase(TEST_SERVER_URL!, name, `${TEST_DATABASE_PREFIX}_template`)).finally(() =>
    dropDatabase(TEST_SERVER_URL!, name),
  );
}

describe('Seeding', () => {
  const api = useTestApi();
  let summary: SeedSummary;
  let seeded: Awaited<ReturnType<typeof rowsOf>>;
  let admin: TestUser;

  const select = (text: string) => query(api.app.databaseUrl, text);

  beforeAll(async () => {
    summary = await seed(api.app.databaseUrl, 7);
    seeded = await rowsOf(api.app.databaseUrl);
    admin = await api.admin();
  });

  it('writes as many rows as it is asked for, and says how many', () => {
    const { order_items, ...rows } = seeded;
    const lengths = Object.fromEntries(Object.entries(rows).map(([table, { length }]) => [table, length]));

    expect(lengths).toEqual(counts);
    expect(summary.rows).toEqual({ ...counts, order_items: order_items.length });
    expect(order_items.length).toBeGreaterThan(1.5 * counts.orders);
    expect(summary.seconds).toBeGreaterThan(0);
  });

  it('makes the same rows of the same seed', () =>
    withAnotherDatabase(async (url) => {
      await seed(url, 7);

      expect(await rowsOf(url)).toEqual(seeded);
    }));

  it('makes other rows of another seed, and adds them to those that there are', () =>
    withAnotherDatabase(async (url) => {
      await seed(url, 7);
      await seed(url, 8);
      const rows = await rowsOf(url);

      for (const [table, before] of Object.entries(seeded) as [Table, Row[]][]) {
        expect(rows[table].slice(0, before.length)).toEqual(before);
        expect(withoutIds(rows[table].slice(before.length))).not.toEqual(withoutIds(before));
      }
      expect(rows.users).toHaveLength(2 * counts.users);
    }));

  it('takes no name that somebody has', () =>
    withAnotherDatabase(async (url) => {
      // Two users have an id already, so the next two places would be called what those two are called.
      const [third, fourth] = [2, 3].map((place) => {
        const { username, email } = seeded.users[place] as { username: string; email: string };
        return { username: username.replace(/\d+$/, String(place + 3)), email: email.replace(/\d+@/, `${place + 3}@`) };
      });
      const insert = `INSERT INTO users (username, username_key, email, email_key) VALUES ($1, $2, $3, $4)`;
      await query(url, insert, [third.username.toUpperCase(), third.username, 'a@example.com', 'a@example.com']);
      await query(url, insert, ['another', 'another', fourth.email, fourth.email]);
      await seed(url, 7);
      const { users } = await rowsOf(url);

      expect(users).toHaveLength(counts.users + 2);
      expect(new Set(users.map(({ username_key }) => username_key)).size).toBe(users.length);
      expect(users.slice(2).map(({ id }) => id)).not.toContain(5);
    }));

  it('adds up every order exactly, from the names and prices of different products', async () => {
    const wrong = await select(
      `SELECT id FROM orders LEFT JOIN order_items ON order_id = id GROUP BY id
        HAVING sum(quantity * unit_price) IS DISTINCT FROM total_amount OR count(DISTINCT product_id) <> count(*)
            OR max(position) + 1 <> count(*)`,
    );
    const others = await select(
      `SELECT order_id FROM order_items JOIN products ON products.id = product_id
        WHERE products.name <> order_items.name OR price <> unit_price`,
    );

    expect([wrong, others]).toEqual([[], []]);
  });

  it('knows every status, and orders of all sizes', async () => {
    const statuses = async (table: string) =>
      (await select(`SELECT DISTINCT status FROM ${table} ORDER BY 1`)).map(({ status }) => status as string);
    const sizes = await select('SELECT count(*) AS lines FROM order_items GROUP BY order_id ORDER BY 1');

    expect(await statuses('users')).toEqual(['ACTIVE', 'SUSPENDED']);
    expect(await statuses('products')).toEqual(['ACTIVE', 'DISCONTINUED']);
    expect(await statuses('orders')).toEqual(['CANCELLED', 'DELIVERED', 'PAID', 'PENDING', 'SHIPPED']);
    expect(await statuses('posts')).toEqual(['DRAFT', 'PUBLISHED']);
    expect([sizes.at(0)!.lines, sizes.at(-1)!.lines]).toEqual([1, 8]);
  });

  it('keeps to the order of time: nothing refers to what came later, and nothing is from the future', async () => {
    const wrong = await Promise.all(
      [
        'SELECT FROM orders o JOIN users u ON u.id = user_id WHERE u.created_at > o.created_at',
        'SELECT FROM posts p JOIN users u ON u.id = user_id WHERE u.created_at > p.created_at',
        'SELECT FROM comments c JOIN users u ON u.id = user_id WHERE u.created_at > c.created_at',
        'SELECT FROM comments c JOIN posts p ON p.id = post_id WHERE p.created_at > c.created_at',
        'SELECT FROM replies r JOIN users u ON u.id = user_id WHERE u.created_at > r.created_at',
        'SELECT FROM replies r JOIN comments c ON c.id = comment_id WHERE c.created_at > r.created_at',
        ...Object.keys(counts).map(
          (table) => `SELECT FROM ${table} WHERE created_at > updated_at OR updated_at > now()`,
        ),
      ].map(select),
    );

    expect(wrong.flat()).toEqual([]);
  });

  it('lets nobody comment on a draft', async () => {
    expect(await select(`SELECT FROM comments JOIN posts ON posts.id = post_id WHERE status = 'DRAFT'`)).toEqual([]);
  });

  it('writes nothing that the API would refuse or alter', async () => {
    const inputs: [ClassConstructor<object>, string[], Row[]][] = [
      [CreateUserDto, ['username', 'email', 'name', 'status', 'roles'], seeded.users],
      [CreateProductDto, ['name', 'description', 'price', 'stock', 'status'], seeded.products],
      [CreatePostDto, ['title', 'content', 'status'], seeded.posts],
      [CreateCommentDto, ['content'], seeded.comments],
      [CreateReplyDto, ['comment_id', 'content'], seeded.replies],
    ];
    for (const [type, attributes, rows] of inputs) {
      for (const row of rows) {
        const given = Object.fromEntries(attributes.map((name) => [name, row[name]]));
        const input = plainToInstance(type, { ...given, ...(type === CreateUserDto && { password: 'a password' }) });
        expect(await validate(input)).toEqual([]);
        expect(input).toMatchObject(given);
      }
    }
  });

  it('fills collections that the API lists, sorts, filters and searches', async () => {
    const totals = {
      '/users': counts.users + 1,
      '/products': counts.products,
      '/orders': counts.orders,
      '/posts': counts.posts,
      '/posts/1/comments': seeded.comments.filter(({ post_id }) => post_id === 1).length,
      '/replies': counts.replies,
    };
    for (const [path, total] of Object.entries(totals)) {
      const page = await api.as(admin).get(`${path}?sort=created_at&order=desc&size=7`);
      expect(page.body.pagination).toMatchObject({ total, size: 7 });
      expect(page.body.data).toHaveLength(Math.min(7, total));
    }
    const { name } = seeded.products[0] as { name: string };
    const found = await api.get(`/products?search=${encodeURIComponent(name)}`);
    const drafts = await api.as(admin).get('/posts?status=DRAFT');

    expect(found.body.data).toContainEqual(expect.objectContaining({ id: seeded.products[0].id, name }));
    expect(drafts.body.pagination.total).toBe(seeded.posts.filter(({ status }) => status === 'DRAFT').length);
  });

  it('leaves the sequences behind its own ids, so that the API goes on', async () => {
    const created = await api.as(admin).post('/posts', { title: 'The first of our own', content: '.' });

    expect([created.status, created.body.data.id]).toEqual([201, counts.posts + 1]);
  });

  it('tells the planner how many rows there are', async () => {
    const estimates = await select(
      `SELECT relname, reltuples::int AS rows FROM pg_class WHERE relname = ANY('{products,orders,comments,replies}')`,
    );

    expect(Object.fromEntries(estimates.map(({ relname, rows }) => [relname, rows]))).toEqual({
      products: counts.products,
      orders: counts.orders,
      comments: counts.comments,
      replies: counts.replies,
    });
  });

  it('writes any text as it is', async () => {
    const client = new Client({ connectionString: api.app.databaseUrl });
    await client.connect();
    try {
      await client.query('CREATE TEMPORARY TABLE texts (position int, content text, written timestamptz)');
      const contents = ['a\tb\nc\rd', 'back\\slash \\N \\. \\t', '\\N', '', '"quoted", \'twice\'', '😀 é', null];
      const written = new Date('2026-01-31T12:00:00.123Z');
      await copyRows(
        client,
        'texts',
        contents.map((content, position) => ({ position, content, written })),
      );
      const { rows } = await client.query('SELECT content, written FROM texts ORDER BY position');

      expect(rows).toEqual(contents.map((content) => ({ content, written })));
    } finally {
      await client.end();
    }
  });

  it('leaves whole orders behind when it fails half-way', () =>
    withAnotherDatabase(async (url) => {
      await query(url, 'ALTER TABLE order_items ADD CONSTRAINT refused CHECK (order_id <> 200)');

      await expect(seed(url, 7)).rejects.toThrow(/refused/);
      const { orders, order_items, posts } = await rowsOf(url);
      const ids = orders.map(({ id }) => id);
      expect(ids).toContain(1);
      expect(ids).not.toContain(200);
      expect([...new Set(order_items.map(({ order_id }) => order_id))]).toEqual(ids);
      expect(posts).toEqual([]);
    }));

  it('ends with an error, and no connection, when the database goes away', () =>
    withAnotherDatabase(async (url) => {
      const ofSeed = `FROM pg_stat_activity WHERE application_name = 'seed' AND datname = current_database()`;
      let killed: Promise<unknown> | undefined;
      const kill = () => void (killed ??= query(url, `SELECT pg_terminate_backend(pid) ${ofSeed}`));

      await expect(seed(url, 7, { ...silent, advance: kill })).rejects.toThrow(/connection/i);
      await killed;
      // The server takes a moment to notice.
      await waitFor(async () => (await query(url, `SELECT ${ofSeed}`)).length === 0);
    }));
});
