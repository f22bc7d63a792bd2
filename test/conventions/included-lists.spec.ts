import { DataSource } from 'typeorm';
import { type Answer, expectError, statementsOf, times } from '../../src/platform/testing';
import { Fixtures, type Row } from '../support/fixtures';
import { type TestUser, useTestApi } from '../support/test-api';

interface List {
  data: { id: number; content: string }[];
  pagination: Record<string, unknown>;
}
type Item = Record<string, unknown> & { id: number; comments: List };

const EMBEDDED = 20;
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

const itemOf = ({ body }: Answer) => body.data as Item;
const itemsOf = ({ body }: Answer) => body.data as Item[];
const listOf = ({ body: { data, pagination } }: Answer) => ({ data, pagination });
const idsOf = (rows: { id: number }[]) => rows.map(({ id }) => id);

describe('A list that an item includes', () => {
  const api = useTestApi();
  let author: TestUser;
  let own: Fixtures;
  let few: Row;
  let many: Row;
  let none: Row;

  beforeAll(async () => {
    author = await api.user();
    own = new Fixtures(api, author);
    [few, many, none] = [await own.post(), await own.post(), await own.post()];
    for (const post of [...times(EMBEDDED, () => few), ...times(EMBEDDED + 5, () => many)]) await own.comment({}, post);
  });

  const query = (text: string, values: unknown[] = []) => api.app.nest.get(DataSource).query<Row[]>(text, values);

  it('is in version 1 the first page of the list itself, with its total', async () => {
    const items = itemsOf(await api.get(`/posts?include=comments&size=100`));

    for (const post of [few, many, none]) {
      const list = listOf(await api.get(`/posts/${post.id}/comments`));
      expect(items.find(({ id }) => id === post.id)!.comments).toEqual(list);
      expect(itemOf(await api.get(`/posts/${post.id}?include=comments`)).comments).toEqual(list);
    }
    expect(items.find(({ id }) => id === many.id)!.comments.pagination).toMatchObject({
      total: EMBEDDED + 5,
      totalPages: 2,
    });
  });

  it('is in version 2 the first page too, with a cursor of the list itself', async () => {
    for (const [post, rest] of [
      [few, 0],
      [many, 5],
      [none, 0],
    ] as const) {
      const { comments } = itemOf(await api.get(`//api/v2/posts/${post.id}?include=comments`));
      const list = listOf(await api.get(`//api/v2/posts/${post.id}/comments`));
      expect(comments.data).toEqual(list.data);
      expect({ ...comments.pagination, next: null }).toEqual({ ...list.pagination, next: null });
      expect(comments.pagination.next !== null).toBe(rest > 0);
      if (rest === 0) continue;
      const next = await api.get(`//api/v2/posts/${post.id}/comments?cursor=${comments.pagination.next as string}`);
      expect([...idsOf(comments.data), ...idsOf(listOf(next).data)]).toEqual(
        idsOf(await query('SELECT id FROM comments WHERE post_id = $1 ORDER BY id', [post.id])),
      );
      const other = await api.get(`//api/v2/posts/${few.id}/comments?cursor=${comments.pagination.next as string}`);
      expectError(other, 'VALIDATION_ERROR', { fields: { cursor: 'cursor' } });
    }
  });

  it('has a cursor for a list that a parameter filters', async () => {
    const comment = await own.comment({}, none);
    for (let count = 0; count <= EMBEDDED; count++) await own.reply({}, comment);

    const { replies } = itemOf(await api.get(`//api/v2/comments/${comment.id}?include=replies`)) as unknown as {
      replies: List;
    };
    const next = replies.pagination.next as string;
    const rest = await api.get(`//api/v2/replies?commentId=${comment.id}&cursor=${next}&fields=id`);
    expect(idsOf(listOf(rest).data)).toHaveLength(1);
    expectError(await api.get(`//api/v2/replies?cursor=${next}`), 'VALIDATION_ERROR', { fields: { cursor: 'cursor' } });
    await query('DELETE FROM comments WHERE id = $1', [comment.id]);
  });

  it('changes neither the rows of the list around it, nor its links and cursors', async () => {
    const plain = await api.get('//api/v2/posts?size=1');
    const cursor = plain.body.pagination.next as string;
    const following = await api.get(`//api/v2/posts?size=1&include=user,comments&cursor=${cursor}`);

    expect(idsOf(itemsOf(following))).toEqual(idsOf(itemsOf(await api.get(`//api/v2/posts?size=1&cursor=${cursor}`))));
    const back = following.body.pagination.previous as string;
    expect(idsOf(itemsOf(await api.get(`//api/v2/posts?size=1&cursor=${back}`)))).toEqual(idsOf(itemsOf(plain)));
    const { headers } = await api.get('/posts?include=user&size=1');
    expect(headers.get('link')).toContain('</api/v1/posts?include=user&size=1&page=1>; rel="next"');
  });

  it('reads of each row no more than the first page by the index of its key', async () => {
    const [text] = (await statementsOf(() => api.get('//api/v2/posts?include=comments'))).slice(-1);

    expect(text).toMatch(
      /WHERE "resource"."post_id" = wanted.key AND EXISTS .+ ORDER BY "resource"."id" ASC LIMIT 21\)/,
    );
  });

  describe('of the largest rows', () => {
    const POSTS = 30;
    let first: number;

    beforeAll(async () => {
      const rows = await query(
        `INSERT INTO posts (user_id, title, content) SELECT $1, 'large', 'x' FROM generate_series(1, $2) RETURNING id`,
        [author.id, POSTS],
      );
      first = rows[0].id;
      await query(
        `INSERT INTO comments (post_id, user_id, content)
         SELECT post, $1, repeat('😀', 5000) FROM generate_series($2::bigint, $3) AS post, generate_series(1, 20)`,
        [author.id, first, first + POSTS - 1],
      );
    });

    const list = (version: string, parameters: string) =>
      api.as(author).get(`//api/${version}/users/${author.id}/posts?include=comments,user&${parameters}`);

    it('is no way to an answer of more than 8 MiB: a numbered page is refused, before its rows are read', async () => {
      const statements: string[] = [];
      expect(await list('v1', `sort=id&order=desc&size=${POSTS / 2}`)).toMatchObject({ status: 200 });
      statements.push(
        ...(await statementsOf(async () => {
          const answer = await list('v1', `sort=id&order=desc&size=${POSTS}`);
          expectError(answer, 'VALIDATION_ERROR', { fields: { size: 'bytes' } });
        })),
      );
      expect(statements.filter((text) => text.includes('"comments"'))).toHaveLength(1);
    });

    it.each(['next', 'previous'])(
      'shortens a page of a cursor, so that a walk finds each row once: %s',
      async (direction) => {
        const order = direction === 'next' ? 'desc' : 'asc';
        const found: Item[][] = [];
        for (let cursor = direction === 'next' ? '' : await cursorFromEnd(); found.length < 10;) {
          const answer = await list('v2', `sort=id&order=${order}&size=100${cursor}`);
          expect([answer.status, Buffer.byteLength(answer.text) <= MAX_ANSWER_BYTES]).toEqual([200, true]);
          found.push(itemsOf(answer));
          const { [direction]: next } = answer.body.pagination as Record<string, string | null>;
          if (next === null) break;
          cursor = `&cursor=${next}`;
        }

        const items = found.flat();
        const large = items.filter(({ title }) => title === 'large');
        expect(found.length).toBeGreaterThan(1);
        expect(new Set(idsOf(items)).size).toBe(items.length);
        expect(large).toHaveLength(POSTS);
        expect(large.filter(({ comments }) => comments.data.length !== EMBEDDED)).toEqual([]);
      },
    );

    /** Leads from a last post back to those before it. */
    async function cursorFromEnd(): Promise<string> {
      const last = await own.post();
      const [{ id: total }] = await query('SELECT count(*)::int AS id FROM posts WHERE user_id = $1', [author.id]);
      const path = `//api/v2/users/${author.id}/posts?sort=id&order=asc&size=${total - 1}`;
      const before = await api.as(author).get(path);
      const end = await api.as(author).get(`${path}&cursor=${before.body.pagination.next as string}`);
      expect(idsOf(itemsOf(end))).toEqual([last.id]);
      return `&cursor=${end.body.pagination.previous as string}`;
    }

    it('is read by many in turn', async () => {
      const answers = await Promise.all(times(8, () => list('v2', 'sort=id&order=desc&size=10')));

      expect(answers.map(({ status }) => status)).toEqual(times(8, () => 200));
    });
  });
});
