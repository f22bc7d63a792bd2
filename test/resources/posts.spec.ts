import { DataSource } from 'typeorm';
import { type Answer, type Client, RowLock, times } from '../../src/platform/testing';
import { aPost } from '../support/builders';
import { type TestUser, useTestApi } from '../support/test-api';

/** A post or a comment. */
interface Post {
  id: number;
}

describe('/posts, /comments and /replies', () => {
  const api = useTestApi();
  let ada: TestUser;
  let eve: TestUser;
  let admin: TestUser;

  beforeAll(async () => {
    [ada, eve, admin] = await Promise.all([api.user(), api.user(), api.admin()]);
  });

  const dataOf = async (answer: Promise<Answer>) => (await answer).body.data;
  const post = (attributes: object = {}, author = ada) => dataOf(api.as(author).post('/posts', aPost(attributes)));
  const comment = (postId: number, content = 'A comment', author = ada) =>
    dataOf(api.as(author).post(`/posts/${postId}/comments`, { content }));
  const reply = (commentId: number, content = 'A reply', author = ada) =>
    dataOf(api.as(author).post('/replies', { comment_id: commentId, content }));
  const sayOn = ({ id }: Post) => api.as(eve).post(`/posts/${id}/comments`, { content: 'A comment' });
  const answerTo = ({ id }: Post) => api.as(eve).post('/replies', { comment_id: id, content: 'A reply' });
  const totalOf = async (client: Client, path: string) => (await client.get(path)).body.pagination.total;

  it('let a user write, and anyone read', async () => {
    const written = await post({ title: 'Hello', content: 'One line.\r\nAnother.\tTabbed.' });
    const said = await comment(written.id, 'First!', eve);
    const answered = await reply(said.id, 'Welcome.');

    expect(await dataOf(api.get(`/posts/${written.id}`))).toEqual({
      id: written.id,
      created_at: expect.any(String),
      updated_at: expect.any(String),
      version: 1,
      user_id: ada.id,
      title: 'Hello',
      content: 'One line.\nAnother.\tTabbed.',
      status: 'PUBLISHED',
    });
    expect(await dataOf(api.get(`/comments/${said.id}`))).toEqual({
      id: said.id,
      created_at: expect.any(String),
      updated_at: expect.any(String),
      version: 1,
      post_id: written.id,
      user_id: eve.id,
      content: 'First!',
    });
    expect(await dataOf(api.get(`/replies/${answered.id}`))).toEqual({
      id: answered.id,
      created_at: expect.any(String),
      updated_at: expect.any(String),
      version: 1,
      comment_id: said.id,
      user_id: ada.id,
      content: 'Welcome.',
    });
  });

  it('hide a draft, and all below it, from everyone but its author and administrators', async () => {
    const draft = await post({ title: 'Unfinished xyzzy', status: 'DRAFT' });
    const said = await comment(draft.id, 'Below xyzzy');
    const answered = await reply(said.id, 'Deeper xyzzy');
    const paths = [
      `/posts/${draft.id}`,
      `/users/${ada.id}/posts/${draft.id}`,
      `/posts/${draft.id}/comments`,
      `/comments/${said.id}`,
      `/replies/${answered.id}`,
      `/replies/${answered.id}?commentId=${said.id}`,
    ];
    const lists = ['/posts?search=xyzzy', `/users/${ada.id}/posts?status=DRAFT`, '/posts?status=DRAFT&search=xyzzy'];
    const replies = ['/replies?search=xyzzy', `/replies?commentId=${said.id}`];

    for (const stranger of [api, api.as(eve)]) {
      for (const path of paths) expect(await stranger.get(path)).toMatchObject({ status: 404 });
      for (const path of [...lists, ...replies]) expect(await totalOf(stranger, path)).toBe(0);
    }
    for (const insider of [api.as(ada), api.as(admin)]) {
      for (const path of paths) expect(await insider.get(path)).toMatchObject({ status: 200 });
      for (const path of [...lists, ...replies]) expect(await totalOf(insider, path)).toBe(1);
    }
    expect(await api.as(eve).patch(`/posts/${draft.id}`, { title: 'Mine' })).toMatchObject({ status: 404 });
    expect(await api.as(eve).delete(`/posts/${draft.id}`)).toMatchObject({ status: 404 });
    expect(await api.as(eve).post(`/posts/${draft.id}/comments`, { content: 'Hm' })).toMatchObject({ status: 404 });
    expect(await api.as(eve).post('/replies', { comment_id: said.id, content: 'Hm' })).toMatchObject({
      status: 400,
      body: { error: { fields: [{ field: 'comment_id', rule: 'exists' }] } },
    });
  });

  it('appear when the draft is published, and vanish when it is taken back', async () => {
    const draft = await post({ status: 'DRAFT' });

    await api.as(ada).patch(`/posts/${draft.id}`, { status: 'PUBLISHED' });
    const said = await comment(draft.id, 'By another', eve);
    expect(await api.get(`/comments/${said.id}`)).toMatchObject({ status: 200 });
    await api.as(ada).patch(`/posts/${draft.id}`, { status: 'DRAFT' });
    expect(await api.as(eve).get(`/comments/${said.id}`)).toMatchObject({ status: 404 });
    expect(await api.as(eve).delete(`/comments/${said.id}`)).toMatchObject({ status: 404 });
  });

  it('are changed and deleted by their authors and administrators only', async () => {
    const { id } = await post();
    const said = await comment(id, 'By Eve', eve);
    const answered = await reply(said.id, 'By Eve too', eve);

    for (const path of [`/comments/${said.id}`, `/replies/${answered.id}`]) {
      expect(await api.as(ada).patch(path, { content: 'Not mine' })).toMatchObject({ status: 403 });
      expect(await api.as(ada).delete(path)).toMatchObject({ status: 403 });
      expect(await api.as(eve).patch(path, { content: 'Mine' })).toMatchObject({ body: { data: { content: 'Mine' } } });
      expect(await api.as(admin).patch(path, { content: 'Moderated' })).toMatchObject({ status: 200 });
    }
    expect(await api.as(admin).delete(`/replies/${answered.id}`)).toMatchObject({ status: 204 });
    expect(await api.as(eve).delete(`/comments/${said.id}`)).toMatchObject({ status: 204 });
    expect(await api.as(eve).put(`/posts/${id}`, aPost())).toMatchObject({ status: 403 });
    expect(await api.as(admin).put(`/posts/${id}`, aPost({ title: 'Edited' }))).toMatchObject({
      status: 200,
      body: { data: { title: 'Edited', user_id: ada.id } },
    });
  });

  it('go with the post that they belong to', async () => {
    const { id } = await post();
    const said = await comment(id);
    const answered = await reply(said.id);

    expect(await api.as(ada).delete(`/posts/${id}`)).toMatchObject({ status: 204 });
    for (const path of [`/posts/${id}`, `/posts/${id}/comments`, `/comments/${said.id}`, `/replies/${answered.id}`]) {
      expect(await api.as(admin).get(path)).toMatchObject({ status: 404 });
    }
    expect(await api.as(ada).delete(`/posts/${id}`)).toMatchObject({ status: 404 });
  });

  it('are deleted once, however many delete them at once', async () => {
    const { id } = await post();

    const answers = await Promise.all(times(10, () => api.as(ada).delete(`/posts/${id}`)));

    expect(answers.map(({ status }) => status).sort()).toEqual([204, ...times(9, () => 404)]);
  });

  it('leave no comment without a post when both come at once', async () => {
    const { id } = await post();

    const [deleted, ...comments] = await Promise.all([
      api.as(ada).delete(`/posts/${id}`),
      ...times(20, () => api.as(eve).post(`/posts/${id}/comments`, { content: 'Quick' })),
    ]);

    expect(deleted.status).toBe(204);
    expect(comments.every(({ status }) => status === 201 || status === 404)).toBe(true);
    for (const { body } of comments.filter(({ status }) => status === 201)) {
      expect(await api.get(`/comments/${body.data.id}`)).toMatchObject({ status: 404 });
    }
  });

  it('don’t wait for each other when a reply and the end of its post come at once', async () => {
    const { id } = await post();
    const said = await comment(id);

    const answer = await api.app.nest.get(DataSource).transaction(async (manager) => {
      // What deleting does first; its comments come later.
      await manager.query('SELECT FROM posts WHERE id = $1 FOR UPDATE', [id]);
      const replied = await api.as(eve).post('/replies', { comment_id: said.id, content: 'Quick' });
      await manager.query('DELETE FROM posts WHERE id = $1', [id]);
      return replied;
    });

    expect(answer).toMatchObject({ status: 201 });
    expect(await api.get(`/replies/${answer.body.data.id}`)).toMatchObject({ status: 404 });
  });

  it.each<[string, string, (of: Post, said: Post) => [string, () => Promise<Answer>]]>([
    ['a post', 'comments', (of) => [`/posts/${of.id}`, () => sayOn(of)]],
    ['a post with a comment', 'replies', (of, said) => [`/posts/${of.id}`, () => answerTo(said)]],
    ['a comment', 'replies', (_of, said) => [`/comments/${said.id}`, () => answerTo(said)]],
  ])('that come keep no deletion of %s waiting: %s', async (_what, table, those) => {
    const of = await post();
    const said = await comment(of.id);
    const [path, add] = those(of, said);
    const lock = await RowLock.ofWrites(api.app.databaseUrl, table);
    const first = add();
    await lock.awaitedBy(1);
    const deleted = api.as(ada).delete(path);
    await lock.awaitedBy(2);
    const second = add();
    await lock.awaitedBy(3);
    await lock.release();

    expect([await first, await deleted]).toMatchObject([{ status: 201 }, { status: 204 }]);
    // It waited behind the deletion.
    expect([400, 404]).toContain((await second).status);
  });

  it('go on below a post while the deletion of one of its comments takes long', async () => {
    const of = await post();
    const said = await comment(of.id);
    await answerTo(said);
    const lock = await RowLock.ofWrites(api.app.databaseUrl, 'replies');
    const deleted = api.as(ada).delete(`/comments/${said.id}`);
    await lock.awaitedBy(1);

    expect(await sayOn(of)).toMatchObject({ status: 201 });
    await lock.release();
    expect(await deleted).toMatchObject({ status: 204 });
  });

  it('of a user are listed below that user, and written there by it and by administrators', async () => {
    const author = await api.user();
    const mine = await dataOf(api.as(author).post(`/users/${author.id}/posts`, aPost()));
    const ghost = await api.as(admin).post(`/users/${author.id}/posts`, aPost());

    expect(ghost).toMatchObject({ status: 201, body: { data: { user_id: author.id } } });
    expect(ghost.headers.get('location')).toBe(`/api/v1/posts/${ghost.body.data.id}`);
    expect(await totalOf(api, `/users/${author.id}/posts`)).toBe(2);
    expect(await dataOf(api.get(`/users/${author.id}/posts/${mine.id}`))).toEqual(mine);
    expect(await api.get(`/users/${eve.id}/posts/${mine.id}`)).toMatchObject({ status: 404 });
    expect(await api.as(eve).post(`/users/${author.id}/posts`, aPost())).toMatchObject({ status: 403 });
    expect(await api.as(eve).post('/users/999999/posts', aPost())).toMatchObject({
      status: 404,
      body: { error: { code: 'USER_NOT_FOUND' } },
    });
    expect(await api.get('/users/999999/posts')).toMatchObject({ body: { error: { code: 'USER_NOT_FOUND' } } });
  });

  it('of a deleted user stay readable, but not below that user', async () => {
    const author = await api.user();
    const written = await post({}, author);
    const said = await comment(written.id, 'My own', author);
    const answered = await reply(said.id, 'To myself', author);

    await api.as(author).delete(`/users/${author.id}`);

    for (const path of [`/posts/${written.id}`, `/comments/${said.id}`, `/replies/${answered.id}`]) {
      expect(await api.get(path)).toMatchObject({ status: 200, body: { data: { user_id: author.id } } });
    }
    for (const path of [`/users/${author.id}/posts`, `/users/${author.id}/posts/${written.id}`]) {
      expect(await api.get(path)).toMatchObject({ status: 404, body: { error: { code: 'USER_NOT_FOUND' } } });
    }
  });

  it('address a reply below its own comment only', async () => {
    const { id } = await post();
    const [one, other] = [await comment(id), await comment(id)];
    const answered = await reply(one.id);

    expect(await api.get(`/replies/${answered.id}?commentId=${one.id}`)).toMatchObject({ status: 200 });
    expect(await api.get(`/replies/${answered.id}?commentId=${other.id}`)).toMatchObject({ status: 404 });
    expect(await api.get(`/replies/${answered.id}?commentId=x`)).toMatchObject({ status: 400 });
    expect(await dataOf(api.get(`/replies/${answered.id}?commentId=${one.id}&fields=id`))).toEqual({ id: answered.id });
    expect(await api.get(`/replies/${answered.id}?fields=nonsense`)).toMatchObject({ status: 400 });
    expect(await totalOf(api, `/replies?commentId=${one.id}`)).toBe(1);
    expect(await totalOf(api, `/replies?commentId=${other.id}`)).toBe(0);
  });
});
