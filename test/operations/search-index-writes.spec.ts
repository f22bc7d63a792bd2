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
