import { type Answer, changeAfter, times } from '../../src/platform/testing';
import { type TestUser, useTestApi } from '../support/test-api';
import { Comment } from '../../src/resources/comments/comment.entity';
import { Post, PostStatus } from '../../src/resources/posts/post.entity';

/** More than a page has. */
const POSTS = 130;
/** The first statement that reads rows of a page, whose answer comes late. */
const READS_POSTS = /FROM "posts"[^]*LIMIT/;

interface Listed {
  id: number;
}

/** A list is read while others write, and shows what fulfilled all its conditions at one moment. */
describe('A page that is read while others write', () => {
  const api = useTestApi();
  let author: TestUser;
  let posts: Post[];

  beforeEach(async () => {
    author = await api.user();
    const repository = api.repository(Post);
    await repository.createQueryBuilder().delete().execute();
    posts = repository.create(
      times(POSTS, (index) => {
        const title = `Post ${String(index).padStart(3, '0')}`;
        return { title, content: 'public', status: PostStatus.PUBLISHED, user_id: author.id };
      }),
    );
    await repository.insert(posts);
  });

  const idsOf = ({ body }: Answer) => (body.data as Listed[]).map(({ id }) => id);
  const hide = (post: Listed) =>
    api.as(author).patch(`/posts/${post.id}`, { status: PostStatus.DRAFT, content: 'SECRET' });

  it.each([
    ['a numbered page', '/posts?size=100'],
    ['a page of cursors', '//api/v2/posts?size=100'],
    ['a page of a status', '/posts?size=100&status=PUBLISHED'],
    ['a page of some attributes', '/posts?size=100&fields=content'],
    ['a small page', '/posts?size=5'],
    ['a search', '/posts?size=100&search=public'],
    ['the posts of a user', '/users/:id/posts?size=100'],
  ])('has nothing of a draft: %s', async (_what, path) => {
    const ask = () => api.get(path.replace(':id', String(author.id)));
    const answer = await changeAfter(READS_POSTS, () => hide(posts[0]), ask);

    expect(answer.status).toBe(200);
    expect(answer.text).not.toContain('SECRET');
    expect(JSON.stringify((await ask()).body.data)).not.toContain('SECRET');
  });

  it('has nothing of another status than asked for', async () => {
    const change = () => api.as(author).patch(`/posts/${posts[0].id}`, { status: PostStatus.DRAFT });
    const ask = () => api.as(author).get('/posts?size=100&status=PUBLISHED');
    const { body } = await changeAfter(READS_POSTS, change, ask);

    expect(new Set((body.data as Post[]).map(({ status }) => status))).toEqual(new Set(['PUBLISHED']));
  });

  it.each(['asc', 'desc'])(
    'leads on to what it has not shown, whatever was deleted or moved meanwhile: %s',
    async (order) => {
      const path = `//api/v2/posts?size=100&sort=title&order=${order}`;
      const sorted = order === 'asc' ? posts : [...posts].reverse();
      const [first, second] = sorted;
      const last = order === 'asc' ? 'Z' : 'A';
      const change = () =>
        Promise.all([
          api.as(author).delete(`/posts/${first.id}`),
          api.as(author).patch(`/posts/${second.id}`, { title: last }),
        ]);
      const beginning = await changeAfter(READS_POSTS, change, () => api.get(path));
      const { next } = beginning.body.pagination as { next: string };
      const rest = await api.get(`${path}&cursor=${next}`);

      const untouched = sorted.slice(2).map(({ id }) => id);
      expect([...idsOf(beginning), ...idsOf(rest)].filter((id) => untouched.includes(id))).toEqual(untouched);
      expect(idsOf(beginning)).toHaveLength(100);
      expect(rest.body.pagination.next).toBeNull();
    },
  );

  it('shows nothing twice that moves between those with a value and those without', async () => {
    const admin = await api.admin();
    const names = ['Ada', 'Bob', 'Cyd'];
    const users = await Promise.all(names.map((name) => api.user({ name })));
    const path = '//api/v2/users?sort=name&size=100';
    const { body } = await api.as(admin).get('//api/v2/users?sort=name&size=1');
    const change = () => api.as(admin).patch(`/users/${users[2].id}`, { name: null });
    const answer = await changeAfter(/FROM "users"[^]*LIMIT/, change, () =>
      api.as(admin).get(`${path}&cursor=${body.pagination.next}`),
    );

    const ids = idsOf(answer);
    expect(ids.length).toBeGreaterThan(3);
    expect(ids.length).toBe(new Set(ids).size);
  });

  it('has no comment on a post that has become a draft', async () => {
    const [post] = posts;
    await api.repository(Comment).insert({ post_id: post.id, user_id: author.id, content: 'public' });
    const change = async () => {
      await hide(post);
      await api.as(author).post(`/posts/${post.id}/comments`, { content: 'SECRET' });
    };
    const answer = await changeAfter(/"?posts"?/, change, () => api.get(`/posts/${post.id}/comments`));

    expect(answer.text).not.toContain('SECRET');
    expect(await api.get(`/posts/${post.id}/comments`)).toMatchObject({ status: 404 });
    expect(await api.as(author).get(`/posts/${post.id}/comments`)).toMatchObject({ status: 200 });
  });
});
