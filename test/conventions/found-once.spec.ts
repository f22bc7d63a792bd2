import { DataSource } from 'typeorm';
import { numberOfNone } from '../../src/platform/lists/few-found';
import { rangesAfter } from '../../src/platform/lists/ranges';
import { type Answer, type Client, statementsOf } from '../../src/platform/testing';
import { Product } from '../../src/resources/products/product.entity';
import { useTestApi } from '../support/test-api';

/** The number of rows that a search finds and counts at once, and more than that. */
const FEW = 60;
const MANY = 501;
const SIZE = 25;

/** Equal prices and no description: ids and nulls decide about the order. */
const MADE = `
  INSERT INTO products (name, description, price, stock, status)
  SELECT $1 || ' ' || number, CASE WHEN number % 3 = 0 THEN 'text ' || number % 7 END, number % 5, number % 11,
         CASE WHEN number % 4 = 0 THEN 'DISCONTINUED' ELSE 'ACTIVE' END
    FROM generate_series(1, $2::integer) AS number`;

/** Texts so large that a page of them is weighed first, and that a page of all has no room for them. */
const POSTS = `
  INSERT INTO posts (user_id, title, content, status)
  SELECT $1, 'Rareword ' || number % 7, repeat('x', 40000 + number), 'PUBLISHED' FROM generate_series(1, $2::integer) AS number`;

/** Every third one has no name, and others share one. */
const USERS = `
  INSERT INTO users (username, username_key, email, email_key, name)
  SELECT word, word, word || '@example.com', word || '@example.com', CASE WHEN number % 3 > 0 THEN 'Name ' || number % 5 END
    FROM generate_series(1, $1::integer) AS number CROSS JOIN LATERAL (SELECT 'rareuser' || number AS word) AS words`;

interface Listed {
  data: { id: number }[];
  pagination: { total: number; next: string | null; previous: string | null };
}

describe('The rows that a search finds', () => {
  const api = useTestApi();
  let client: Client;
  let database: DataSource;

  beforeAll(async () => {
    const author = await api.user();
    client = api.as(author);
    database = api.app.nest.get(DataSource);
    await database.query(MADE, ['Rareword', FEW]);
    await database.query(MADE, ['Commonword', MANY]);
    await database.query(POSTS, [author.id, FEW]);
    await database.query(USERS, [FEW]);
    // Without it PostgreSQL takes both tables for empty, and compares each row of one with each of the other.
    await database.query('ANALYZE products, product_texts');
  });

  const idsOf = ({ body }: Answer) => (body as unknown as Listed).data.map(({ id }) => id);
  const totalOf = ({ body }: Answer) => (body as unknown as Listed).pagination.total;

  /** The ids of all rows in the order of a list. */
  async function expected(word: string, sort: string, order: string, status?: string): Promise<number[]> {
    const rows = await database.query<{ id: number }[]>(
      `SELECT id FROM products WHERE name LIKE $1 AND ($2::text IS NULL OR status = $2) ORDER BY ${sort} ${order}, id ${order}`,
      [`${word}%`, status],
    );
    return rows.map(({ id }) => id);
  }

  const each = ['Rareword', 'Commonword'].flatMap((word) =>
    ['id', 'price', 'stock', 'created_at'].flatMap((sort) =>
      ['asc', 'desc'].flatMap((order) => [undefined, 'ACTIVE'].map((status) => ({ word, sort, order, status }))),
    ),
  );

  it.each(each)('are those of its pages: $word by $sort $order, $status', async ({ word, sort, order, status }) => {
    const all = await expected(word, sort, order, status);
    const ask = new URLSearchParams({ search: word.toUpperCase(), sort, order, size: String(SIZE) });
    if (status) ask.set('status', status);
    const pages = [0, 1, Math.ceil(all.length / SIZE) - 1, Math.ceil(all.length / SIZE)];
    for (const page of pages) {
      const answer = await client.get(`/products?${ask.toString()}&page=${page}`);
      expect(totalOf(answer)).toBe(all.length);
      expect(idsOf(answer)).toEqual(all.slice(page * SIZE, (page + 1) * SIZE));
    }
  });

  it.each(each)('are those of its cursors: $word by $sort $order, $status', async ({ word, sort, order, status }) => {
    const all = await expected(word, sort, order, status);
    const ask = new URLSearchParams({ search: word, sort, order, size: String(SIZE), total: 'true' });
    if (status) ask.set('status', status);
    const first = await client.get(`//api/v2/products?${ask.toString()}`);
    ask.set('cursor', (first.body as unknown as Listed).pagination.next!);
    const second = await client.get(`//api/v2/products?${ask.toString()}`);
    ask.delete('total');
    const again = await client.get(`//api/v2/products?${ask.toString()}`);

    expect([totalOf(first), totalOf(second)]).toEqual([all.length, all.length]);
    expect(idsOf(first)).toEqual(all.slice(0, SIZE));
    expect(idsOf(second)).toEqual(all.slice(SIZE, 2 * SIZE));
    expect(idsOf(again)).toEqual(idsOf(second));
  });

  it.each([
    ['few', '/products?search=rareword', FEW],
    ['few, of some attributes', '/products?search=rareword&fields=name&sort=price', FEW],
    ['few, with a filter', '/products?search=rareword&status=ACTIVE', FEW - FEW / 4],
  ])('are looked for once, and counted: %s', async (_what, path, total) => {
    let answer: Answer | undefined;
    const sent = await statementsOf(async () => (answer = await client.get(path)));

    expect(totalOf(answer!)).toBe(total);
    expect(sent).toHaveLength(1);
  });

  it.each(['id', 'title', 'created_at'])('are looked for once where their texts are large: by %s', async (sort) => {
    const rows = await database.query<{ id: number }[]>(
      `SELECT id FROM posts WHERE title LIKE 'Rareword%' ORDER BY ${sort} DESC, id DESC`,
    );
    const ids = rows.map(({ id }) => id);
    for (const size of [5, 20]) {
      for (const page of [0, 1]) {
        const path = `/posts?search=rareword&sort=${sort}&order=desc&size=${size}&page=${page}`;
        let answer: Answer | undefined;
        const sent = await statementsOf(async () => (answer = await client.get(path)));

        expect(idsOf(answer!)).toEqual(ids.slice(page * size, (page + 1) * size));
        expect(totalOf(answer!)).toBe(FEW);
        // The rows of a heavy page are read by their ids afterwards, if they still match.
        expect(sent.filter((text) => text.includes('ILIKE') && !text.includes('ANY($'))).toHaveLength(1);
      }
    }
    const fits = await client.get(`//api/v2/posts?search=rareword&sort=${sort}&order=desc&size=${FEW}&total=true`);
    expect(totalOf(fits)).toBe(FEW);
    expect(idsOf(fits)).toEqual(ids);
  });

  it.each([
    ['where they are many', '/products?search=commonword', MANY, 3],
    ['where there is none', '/products?search=absentword', 0, 2],
  ])('are counted %s', async (_where, path, total, statements) => {
    let answer: Answer | undefined;
    const sent = await statementsOf(async () => (answer = await client.get(path)));

    expect(totalOf(answer!)).toBe(total);
    expect(sent).toHaveLength(statements);
  });

  it.each(each)(
    'are those of its cursors without a total, in both directions: $word by $sort $order, $status',
    async (one) => {
      const all = await expected(one.word, one.sort, one.order, one.status);
      const ask = new URLSearchParams({ search: one.word, sort: one.sort, order: one.order, size: String(SIZE) });
      if (one.status) ask.set('status', one.status);
      const found: number[][] = [];
      let pagination!: Listed['pagination'];
      let isFirst = true;
      do {
        if (!isFirst) ask.set('cursor', pagination.next!);
        isFirst = false;
        const { body } = await client.get(`//api/v2/products?${ask.toString()}`);
        found.push((body as unknown as Listed).data.map(({ id }) => id));
        ({ pagination } = body);
      } while (pagination.next);
      expect(found.flat()).toEqual(all);
      ask.set('cursor', pagination.previous!);
      expect(idsOf(await client.get(`//api/v2/products?${ask.toString()}`))).toEqual(found.at(-2));
    },
  );

  it.each(['asc', 'desc'])('are those of its cursors where the sort attribute may be null: %s', async (order) => {
    const rows = await database.query<{ id: number }[]>(
      `SELECT id FROM users WHERE username LIKE 'rareuser%' ORDER BY name ${order}, id ${order}`,
    );
    const path = `//api/v2/users?search=rareuser&sort=name&size=4&order=${order}`;
    const found: number[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const answer: Answer = await client.get(cursor ? `${path}&cursor=${cursor}` : path);
      found.push(...idsOf(answer));
      cursor = (answer.body as unknown as Listed).pagination.next;
    }
    expect(found).toEqual(rows.map(({ id }) => id));
    expect(found).toHaveLength(FEW);
  });

  it.each([
    ['for a cursor', '//api/v2/products?search=rareword', 1],
    ['for a cursor, where they are many', '//api/v2/products?search=commonword', 2],
    ['for a cursor, where there is none', '//api/v2/products?search=absentword', 2],
    ['behind the last page', '/products?search=rareword&page=9', 2],
    ['for the second page of a cursor', async () => next('rareword'), 1],
    ['for the second page of a cursor, where they are many', async () => next('commonword'), 1],
  ])('are looked for by their words %s', async (_where, list, statements) => {
    const path = typeof list === 'string' ? list : await list();
    const sent = await statementsOf(() => client.get(path));

    expect(sent).toHaveLength(statements);
  });

  async function next(word: string): Promise<string> {
    const path = `//api/v2/products?search=${word}`;
    const { body } = await client.get(path);
    return `${path}&cursor=${(body as unknown as Listed).pagination.next}`;
  }

  it('are not counted as none where some are in the slice by now', async () => {
    const matching = database.getRepository(Product).createQueryBuilder('resource').where("name LIKE 'Rareword%'");
    const behind = (id: number) =>
      rangesAfter(matching.expressionMap.mainAlias!.metadata, 'id', 'ASC', { value: id, id, backwards: false });
    const all = await expected('Rareword', 'id', 'asc');

    expect(await numberOfNone(matching, 'id', { direction: 'ASC', limit: 1, ranges: behind(all.at(-1)!) })).toBe(FEW);
    expect(
      await numberOfNone(matching, 'id', { direction: 'ASC', limit: 1, ranges: behind(all.at(-2)!) }),
    ).toBeUndefined();
    expect(await numberOfNone(matching, 'id', { direction: 'ASC', limit: 1, offset: FEW })).toBe(FEW);
    expect(await numberOfNone(matching, 'id', { direction: 'ASC', limit: 1, offset: FEW - 1 })).toBeUndefined();
  });

  it('may be many, of which others are too large for a page', async () => {
    const [{ id }] = await database.query<{ id: number }[]>('SELECT id FROM users LIMIT 1');
    const insert = `INSERT INTO posts (user_id, title, content, status)
      SELECT $1, $2 || ' largeword ' || number, $3, 'PUBLISHED' FROM generate_series(1, $4::integer) AS number`;
    await database.query(insert, [id, 'b', '😀'.repeat(45_000), MANY]);
    await database.query(insert, [id, 'a', 'small', FEW]);
    const answer = await client.get(`/posts?search=largeword&sort=title&size=${FEW}`);

    expect(answer.status).toBe(200);
    expect(totalOf(answer)).toBe(MANY + FEW);
  });
});
