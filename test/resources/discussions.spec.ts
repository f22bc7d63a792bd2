import { type Answer, type Client, expectError, statementsOf, times } from '../../src/platform/testing';
import { Fixtures, type Row } from '../support/fixtures';
import { useTestApi } from '../support/test-api';

const TOO_MANY = times(101, (index) => index + 1).join();

/** The lists of all posts, comments and replies, by those who wrote them and by what they are below. */
describe('The lists of a discussion', () => {
  const api = useTestApi();
  let [ada, eve]: Fixtures[] = [];
  let admin: Client;
  /** A post and a draft of each user. Below each stand a comment and a reply of each user. */
  let posts: Row[];
  let drafts: Row[];
  let comments: Row[];
  let replies: Row[];

  beforeAll(async () => {
    [ada, eve] = [new Fixtures(api, await api.user()), new Fixtures(api, await api.user())];
    admin = api.as(await api.admin());
    posts = [await ada.post(), await eve.post()];
    drafts = [await ada.post({ status: 'DRAFT' }), await eve.post({ status: 'DRAFT' })];
    [comments, replies] = [[], []];
    for (const post of [...posts, ...drafts]) for (const by of [ada, eve]) comments.push(await by.comment({}, post));
    for (const comment of comments) for (const by of [ada, eve]) replies.push(await by.reply({}, comment));
  });

  const idsOf = ({ body }: Answer) => (body.data as Row[]).map(({ id }) => id);
  const ids = (rows: Row[]) => rows.map(({ id }) => id);
  const commentsOn = (...on: Row[]) => comments.filter(({ post_id }) => ids(on).includes(post_id as number));
  const repliesTo = (to: Row[]) => replies.filter(({ comment_id }) => ids(to).includes(comment_id as number));
  const by = (user: Fixtures, rows: Row[]) => rows.filter(({ user_id }) => user_id === user.owner.id);
  const expectRows = async (client: Client, path: string, rows: Row[]) => {
    const separator = path.includes('?') ? '&' : '?';
    const answer = await client.get(`${path}${separator}size=100`);
    expect([path, idsOf(answer)]).toEqual([path, ids(rows)]);
    expect([path, answer.body.pagination.total]).toEqual([path, rows.length]);
    expect([path, idsOf(await client.get(`//api/v2${path}${separator}size=100`))]).toEqual([path, ids(rows)]);
  };

  it('have the rows below published posts for everyone, and below drafts for their authors and administrators', async () => {
    const [adas, eves] = drafts;
    const callers: [Client, Row[]][] = [
      [api, posts],
      [api.as(ada.owner), [...posts, adas]],
      [api.as(eve.owner), [...posts, eves]],
      [api.as(await api.user()), posts],
      [admin, [...posts, ...drafts]],
    ];
    for (const [client, visible] of callers) {
      const seen = commentsOn(...visible);
      await expectRows(client, '/comments', seen);
      await expectRows(client, `/comments?postId=${ids([...posts, ...drafts]).join()}`, seen);
      await expectRows(client, `/comments?userId=${ada.owner.id}`, by(ada, seen));
      await expectRows(client, `/comments?ids=${ids(comments).join()}`, seen);
      await expectRows(client, `/replies?commentId=${ids(comments).join()}`, repliesTo(seen));
      await expectRows(client, `/replies?userId=${eve.owner.id}`, by(eve, repliesTo(seen)));
      await expectRows(client, `/posts?userId=${ada.owner.id}`, by(ada, visible));
      await expectRows(client, `/posts?userId=${ada.owner.id},${eve.owner.id}`, visible);
    }
  });

  it('are of one or of several posts, comments and users, and of all that is asked for at once', async () => {
    const [first, second] = posts;
    const [one, another] = comments;

    await expectRows(api, `/comments?postId=${first.id}`, commentsOn(first));
    await expectRows(api, `/comments?postId=${second.id}&postId=${first.id}`, commentsOn(first, second));
    await expectRows(api, `/comments?postId=${first.id}&userId=${eve.owner.id}`, by(eve, commentsOn(first)));
    await expectRows(
      api,
      `/comments?postId=${first.id},987654321&created_at[gte]=2000-01-01T00:00:00Z`,
      commentsOn(first),
    );
    await expectRows(api, `/replies?commentId=${one.id}`, repliesTo([one]));
    await expectRows(
      api,
      `/replies?commentId=${another.id},${one.id}&userId=${ada.owner.id}`,
      by(ada, repliesTo([one, another])),
    );
    await expectRows(api, '/comments?postId=987654321', []);
    await expectRows(api, '/posts?userId=987654321', []);
  });

  it('have the posts of a deleted user, as the list of all posts has', async () => {
    const gone = new Fixtures(api, await api.user());
    const post = await gone.post();
    await admin.delete(`/users/${gone.owner.id}`);

    await expectRows(api, `/posts?userId=${gone.owner.id}`, [post]);
    expect(await api.get(`/users/${gone.owner.id}/posts`)).toMatchObject({ status: 404 });
  });

  it.each(['asc', 'desc'])(
    'lead in pages past the rows of several posts, each once and in their order: %s',
    async (order) => {
      const path = `/comments?postId=${ids(posts).reverse().join()}&order=${order}&size=1`;
      const expected = ids(commentsOn(...posts));
      if (order === 'desc') expected.reverse();

      const pages = await Promise.all(times(5, (page) => api.get(`${path}&page=${page}`)));
      expect(pages.flatMap(idsOf)).toEqual(expected);
      const walked: number[] = [];
      for (let cursor = ''; ;) {
        const page = await api.get(`//api/v2${path}${cursor}`);
        walked.push(...idsOf(page));
        if (page.body.pagination.next === null) break;
        cursor = `&cursor=${page.body.pagination.next}`;
      }
      expect(walked).toEqual(expected);
    },
  );

  it('find the rows of several posts in the index of each, and those of one in its order', async () => {
    const sent = async (query: string) => (await statementsOf(() => api.get(`/comments?${query}`))).join('\n');
    const several = `postId=${ids(posts).join()}`;

    expect(await sent(several)).toContain('LATERAL');
    expect(await sent(`${several}&fields=id&order=desc`)).toContain('LATERAL');
    for (const query of [`postId=${posts[0].id}`, `${several}&sort=created_at`, `${several}&search=comment`]) {
      expect(await sent(query)).not.toContain('LATERAL');
    }
  });

  it('belong to their cursors', async () => {
    const path = `//api/v2/comments?postId=${ids(posts).join()}&size=1`;
    const { next } = (await api.get(path)).body.pagination as { next: string };

    expect(idsOf(await api.get(`${path}&cursor=${next}`))).toEqual([comments[1].id]);
    for (const other of ['', `postId=${posts[0].id}&`, `postId=${ids(posts).join()}&userId=${ada.owner.id}&`]) {
      const answer = await api.get(`//api/v2/comments?${other}size=1&cursor=${next}`);
      expectError(answer, 'VALIDATION_ERROR', { fields: { cursor: 'cursor' } });
    }
  });

  it.each([
    ['/comments', 'postId'],
    ['/comments', 'userId'],
    ['/replies', 'commentId'],
    ['/replies', 'userId'],
    ['/posts', 'userId'],
  ])('of %s refuse ids that are malformed or too many: %s', async (path, name) => {
    for (const value of ['', 'x', '0', '1,', '1, 2', '-1', TOO_MANY]) {
      const answer = await api.get(`${path}?${name}=${encodeURIComponent(value)}`);
      expectError(answer, 'VALIDATION_ERROR', { fields: { [name]: 'ids' } });
    }
  });

  it('take these parameters where the path does not say it', async () => {
    const [{ id }] = posts;
    for (const path of [`/posts/${id}/comments?postId=${id}`, `/users/${ada.owner.id}/posts?userId=${ada.owner.id}`]) {
      const name = path.split(/[?=]/)[1];
      expectError(await api.get(path), 'VALIDATION_ERROR', { fields: { [name]: 'unknown' } });
    }
  });
});
