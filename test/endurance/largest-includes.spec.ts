import { DataSource } from 'typeorm';
import { atOnce, times } from '../../src/platform/testing';
import { LoopProbe } from '../support/loop-probe';
import { type ServiceProcess, useServices } from '../support/service-process';
import { type TestUser, useTestApi } from '../support/test-api';

jest.setTimeout(300_000);

const MAX_ANSWER_BYTES = 8 * 1024 * 1024;
const MAX_BLOCKED = 250;
const ROWS = 101;
const BELOW = 21;
const FILLINGS = { markup: '<', emoji: '😀', nothing: 'x' };
/** Each list with all that it includes. */
const LISTS = {
  posts: '/posts?include=user,comments',
  comments: '/posts/1/comments?include=user,post,replies',
  replies: '/replies?include=user,comment',
};

interface Item {
  id: number;
  comments?: { data: object[] };
  post?: object;
}
interface Body {
  data: Item[];
  pagination: { next: string | null; previous: string | null };
  error?: { fields: { field: string }[] };
}

/** Rows of the greatest length, each with as many below it as an answer embeds. */
describe('The largest pages with all that they include', () => {
  const api = useTestApi();
  const services = useServices({ keep: true });
  const probe = new LoopProbe();
  let service: ServiceProcess;
  let admin: TestUser;

  const sql = <T>(text: string, values?: unknown[]) => api.app.nest.get(DataSource).query<T[]>(text, values);

  beforeAll(async () => {
    admin = await api.admin();
    const owner = await api.user({ name: 'x'.repeat(100) });
    await sql(`INSERT INTO posts (user_id, title, content) SELECT $1, 'x', 'x' FROM generate_series(1, ${ROWS})`, [
      owner.id,
    ]);
    await sql(
      `INSERT INTO comments (post_id, user_id, content)
       SELECT post, $1::bigint, 'x' FROM generate_series(1, ${ROWS}) AS post, generate_series(1, ${BELOW}) AS number
        UNION ALL SELECT 1, $1::bigint, 'x' FROM generate_series(1, ${ROWS})`,
      [owner.id],
    );
    await sql(
      `INSERT INTO replies (comment_id, user_id, content)
       SELECT id, $1, 'x' FROM comments, generate_series(1, ${BELOW}) AS number WHERE post_id = 1`,
      [owner.id],
    );
    service = await services.start({
      NODE_ENV: 'test',
      DATABASE_URL: api.app.databaseUrl,
      DATA_DIR: process.env.TEST_DIRECTORY!,
      ...probe.environment,
    });
    await atOnce(Object.values(LISTS), async (path) => ask(`/api/v2${path}&size=20`));
  });

  async function ask(path: string, encoding = 'identity') {
    const headers = { Authorization: `Bearer ${admin.token}`, 'Accept-Encoding': encoding };
    const response = await service.get(path, headers);
    const bytes = Buffer.from(await response.arrayBuffer());
    return { status: response.status, length: bytes.length, body: JSON.parse(bytes.toString()) as Body };
  }

  async function walk(path: string): Promise<Item[]> {
    const items: Item[] = [];
    for (let cursor: string | null = '', pages = 0; cursor !== null && pages < 2 * ROWS; pages++) {
      const { status, length, body } = await ask(`/api/v2${path}&size=100${cursor && `&cursor=${cursor}`}`);
      expect([path, status, length <= MAX_ANSWER_BYTES]).toEqual([path, 200, true]);
      items.push(...body.data);
      cursor = body.pagination.next;
    }
    return items;
  }

  describe.each(Object.entries(FILLINGS))('full of %s', (_name, filling) => {
    beforeAll(async () => {
      await sql('UPDATE posts SET title = repeat($1, 200), content = repeat($1, 50000)', [filling]);
      for (const table of ['comments', 'replies'])
        await sql(`UPDATE ${table} SET content = repeat($1, 5000)`, [filling]);
    });

    it('have at most 8 MiB, have every row once, and keep nobody waiting', async () => {
      const blocked = await probe.longestDuring(service, async () => {
        const posts = await walk(LISTS.posts);
        expect(posts.map(({ id }) => id)).toEqual(times(ROWS, (index) => index + 1));
        expect(new Set(posts.map(({ comments }) => comments!.data.length))).toEqual(new Set([20]));
        const comments = await walk(LISTS.comments);
        expect(new Set(comments.map(({ id }) => id)).size).toBe(ROWS + BELOW);
        expect(comments.filter(({ post }) => !post)).toEqual([]);
      });

      expect(blocked).toBeLessThan(MAX_BLOCKED);
    });

    it.each(Object.values(LISTS))('are whole or refused where a page has a number: %s', async (path) => {
      const blocked = await probe.longestDuring(service, async () => {
        const { status, length, body } = await ask(`/api/v1${path}&size=100`);
        expect(length).toBeLessThanOrEqual(MAX_ANSWER_BYTES);
        if (status === 200) expect(body.data).toHaveLength(100);
        else expect([status, body.error?.fields[0].field]).toEqual([400, 'size']);
      });

      expect(blocked).toBeLessThan(MAX_BLOCKED);
    });

    it('keep nobody waiting when many ask for them at once', async () => {
      const paths = Object.values(LISTS).flatMap((path) => [`/api/v2${path}&size=100`, `/api/v1${path}&size=5`]);

      const blocked = await probe.longestDuring(service, async () => {
        await atOnce(times(4, () => paths).flat(), async (path) => {
          const { status } = await ask(path, 'gzip');
          expect([200, 503]).toContain(status);
        });
      });

      expect(blocked).toBeLessThan(MAX_BLOCKED);
    });
  });
});
