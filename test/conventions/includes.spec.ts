import { type Answer, changeAfter, type Client, expectError, statementsOf, times } from '../../src/platform/testing';
import { Page } from '../../src/platform';
import { Embedding } from '../../src/platform/lists/embedding';
import { Post, PostStatus } from '../../src/resources/posts/post.entity';
import { Fixtures, type Row } from '../support/fixtures';
import type { Node } from '../support/openapi';
import { type TestUser, useTestApi } from '../support/test-api';

type Item = Record<string, unknown> & { id: number };

const itemOf = ({ body }: Answer) => body.data as Item;
const itemsOf = ({ body }: Answer) => body.data as Item[];
const tagOf = ({ headers }: Answer) => headers.get('etag');

describe('include', () => {
  const api = useTestApi();
  let author: TestUser;
  let admin: Client;
  let own: Fixtures;
  let post: Row;
  let comment: Row;
  let reply: Row;

  beforeAll(async () => {
    author = await api.user({ name: 'The author' });
    admin = api.as(await api.admin());
    own = new Fixtures(api, author);
    post = await own.post();
    comment = await own.comment({}, post);
    reply = await own.reply({}, comment);
  });

  const user = () => ({ id: author.id, username: author.username, name: 'The author', image: null });

  it.each(['v1', 'v2'])('embeds a row beside its id, in one item and in a list of %s', async (version) => {
    const item = await api.get(`//api/${version}/posts/${post.id}?include=user`);
    const list = await api.get(`//api/${version}/posts?include=user`);
    const ofUser = await api.get(`//api/${version}/users/${author.id}/posts?include=user`);

    expect(itemOf(item)).toEqual({ ...itemOf(await api.get(`/posts/${post.id}`)), user: user() });
    for (const page of [list, ofUser]) expect(itemsOf(page)).toEqual([itemOf(item)]);
  });

  it('works where Accept names the version', async () => {
    const answer = await api.get('//api/posts?include=user', { Accept: 'application/vnd.api+json;version=2' });

    expect(itemsOf(answer)[0].user).toEqual(user());
  });

  it('embeds what each of the resources declares, after its attributes', async () => {
    const order = await own.order();
    const added = async (path: string, names: string) => {
      const item = itemOf(await api.as(author).get(`${path}?include=${names}`));
      return Object.keys(item).slice(Object.keys(itemOf(await api.as(author).get(path))).length);
    };

    expect(await added(`/orders/${order.id}`, 'user')).toEqual(['user']);
    expect(await added(`/posts/${post.id}`, 'comments,user')).toEqual(['user', 'comments']);
    expect(await added(`/users/${author.id}/posts/${post.id}`, 'user,comments')).toEqual(['user', 'comments']);
    expect(await added(`/comments/${comment.id}`, 'replies,post,user')).toEqual(['post', 'user', 'replies']);
    expect(await added(`/replies/${reply.id}`, 'comment,%20user')).toEqual(['user', 'comment']);
  });

  it('embeds what a GET of the row answers', async () => {
    const { post: embedded } = itemOf(await api.get(`/comments/${comment.id}?include=post`));
    expect(embedded).toEqual(itemOf(await api.get(`/posts/${post.id}`)));

    const ofReply = itemsOf(await api.get(`/replies?commentId=${comment.id}&include=comment`))[0].comment;
    expect(ofReply).toEqual(itemOf(await api.get(`/comments/${comment.id}`)));
  });

  it('shows everyone the public view of a user, and the user itself and administrators all of it', async () => {
    const stranger = api.as(await api.user());
    const path = `/posts/${post.id}?include=user`;
    const whole = itemOf(await admin.get(`/users/${author.id}`));

    for (const caller of [api, stranger]) expect(itemOf(await caller.get(path)).user).toEqual(user());
    expect(whole).toHaveProperty('email');
    for (const caller of [api.as(author), admin]) expect(itemOf(await caller.get(path)).user).toEqual(whole);
  });

  it('is null for a user who was deleted, and the rest stays', async () => {
    const gone = await api.user();
    const { id } = await new Fixtures(api, gone).post();
    await admin.delete(`/users/${gone.id}`);

    const item = itemOf(await admin.get(`/posts/${id}?include=user`));
    expect(item).toEqual({ ...itemOf(await api.get(`/posts/${id}`)), user: null });
  });

  it('shows a draft with its comments to its author and to administrators only', async () => {
    const draft = await own.post({ status: 'DRAFT' });
    const { id } = await own.comment({}, draft);
    const stranger = api.as(await api.user());

    for (const caller of [api, stranger]) {
      expectError(await caller.get(`/comments/${id}?include=post`), 'NOT_FOUND');
      const ids = itemsOf(await caller.get('/posts?include=comments&size=100')).map((item) => item.id);
      expect(ids).not.toContain(draft.id);
    }
    for (const caller of [api.as(author), admin]) {
      expect(itemOf(await caller.get(`/comments/${id}?include=post`)).post).toMatchObject({ id: draft.id });
      expect(itemOf(await caller.get(`/posts/${draft.id}?include=comments`)).comments).toMatchObject({
        data: [{ id }],
      });
    }
  });

  it('embeds nothing that was hidden after the statement of the item', async () => {
    const open = await own.post();
    const { id } = await own.comment({}, open);
    const hide = () => api.repository(Post).update({ id: open.id }, { status: PostStatus.DRAFT });
    const show = () => api.repository(Post).update({ id: open.id }, { status: PostStatus.PUBLISHED });

    const included = await changeAfter(/FROM "posts" "post"/, hide, () =>
      api.get(`/posts/${open.id}?include=comments`),
    );
    expect(itemOf(included).comments).toMatchObject({ data: [], pagination: { total: 0 } });
    await show();
    const comment = await changeAfter(/FROM "comments" "comment"/, hide, () => api.get(`/comments/${id}?include=post`));
    expect(itemOf(comment)).toMatchObject({ id, post_id: open.id, post: null });
    await api.repository(Post).delete({ id: open.id });
  });

  it('shows the buyer of an order to those who see the order', async () => {
    const { id } = await own.order();

    expectError(await api.as(await api.user()).get(`/orders/${id}?include=user`), 'FORBIDDEN');
    expect(itemsOf(await api.as(author).get('/orders?include=user'))[0].user).toMatchObject({ id: author.id });
    expect(itemOf(await admin.get(`/orders/${id}?include=user`)).user).toMatchObject({ email: author.email });
  });

  it.each(['v1', 'v2'])(
    'comes with the attributes that `fields` names, which need not be those of the key: %s',
    async (version) => {
      const names = (item: Item) => Object.keys(item);
      const query = 'fields=title&include=user,comments';

      expect(names(itemOf(await api.get(`//api/${version}/posts/${post.id}?${query}`)))).toEqual([
        'title',
        'user',
        'comments',
      ]);
      const [item] = itemsOf(await api.get(`//api/${version}/posts?${query}`));
      expect(names(item)).toEqual(['title', 'user', 'comments']);
      expect(item.user).toEqual(user());
      expectError(await api.get(`/posts?fields=title,user&include=user`), 'VALIDATION_ERROR', {
        fields: { fields: 'enum' },
      });
    },
  );

  it.each(['', 'users', 'USER', 'user,', 'user,user', 'user,comments,user', 'user.posts', 'x'.repeat(3_000)])(
    'refuses what is unknown, repeated or too much, 400: %.20s',
    async (text) => {
      for (const path of ['/posts', `/posts/${post.id}`, `/replies/${reply.id}`]) {
        expectError(await api.get(`${path}?include=${text}`), 'VALIDATION_ERROR', { fields: { include: 'enum' } });
      }
      const twice = await api.get(`/posts?include=user&include=${text}`);
      expectError(twice, 'VALIDATION_ERROR', { fields: { include: 'enum' } });
    },
  );

  it('is no parameter of a resource that includes nothing, nor of a write', async () => {
    const product = await own.product();
    const asked = [
      admin.get('/products?include=user'),
      admin.get(`/products/${product.id}?include=user`),
      admin.get('//api/v2/users?include=posts'),
      admin.patch(`/posts/${post.id}?include=user`, { title: 'x' }),
      admin.post('/posts?include=user', { title: 'x', content: 'x' }),
    ];

    for (const answer of await Promise.all(asked)) {
      expectError(answer, 'VALIDATION_ERROR', { fields: { include: 'unknown' } });
    }
  });

  it('sends one statement for each relation, however many rows there are, and none where it is not given', async () => {
    await Promise.all(times(30, async () => own.comment({}, await new Fixtures(api, await api.user()).post())));
    const sent = (query: string) => statementsOf(() => api.get(`/posts?size=100${query}`));
    const plain = await sent('');

    expect(plain.join()).not.toMatch(/users|comments/);
    expect(await sent('&include=user')).toHaveLength(plain.length + 1);
    const both = await sent('&include=comments,user');
    expect(both).toHaveLength(plain.length + 2);
    expect(both.slice(0, plain.length)).toEqual(plain);
    expect(await statementsOf(() => api.get(`/comments/${comment.id}`))).toHaveLength(1);
    expect(await statementsOf(() => api.get(`/comments/${comment.id}?include=user,post,replies`))).toHaveLength(4);
  });

  it('does nothing to an answer where it is not given', async () => {
    const [into, withItems] = [jest.spyOn(Embedding.prototype, 'into'), jest.spyOn(Page.prototype, 'withItems')];
    for (const query of ['', '?include=user']) {
      await api.get(`/posts${query}`);
      await api.get(`/posts/${post.id}${query}`);
      // `map` in the controller calls it once.
      const calls = query ? [2, 3] : [0, 1];
      expect([into.mock.calls.length, withItems.mock.calls.length]).toEqual(calls);
    }
    into.mockRestore();
    withItems.mockRestore();
  });

  it('shares the look-up of users among requests of one moment', async () => {
    const statements = await statementsOf(() =>
      Promise.all(times(10, () => api.get(`/posts/${post.id}?include=user`))),
    );

    expect(statements.filter((text) => text.includes('"users"')).length).toBeLessThan(10);
  });

  it('has no entity tag, and is not answered 304: a row may have changed of which the tag tells nothing', async () => {
    const path = `/posts/${post.id}`;
    const tag = tagOf(await api.get(path))!;

    expect(tagOf(await api.get(`${path}?include=user`))).toBeNull();
    for (const known of [tag, '*']) {
      const answer = await api.get(`${path}?include=user`, { 'If-None-Match': known });
      expect([answer.status, itemOf(answer).user]).toEqual([200, user()]);
    }
    await admin.patch(`/users/${author.id}`, { name: 'Another name' });
    expect(itemOf(await api.get(`${path}?include=user`, { 'If-None-Match': tag })).user).toMatchObject({
      name: 'Another name',
    });
    await admin.patch(`/users/${author.id}`, { name: 'The author' });
    expect((await api.get(path, { 'If-None-Match': tag })).status).toBe(304);
  });

  it('leaves caches what they had: no-cache for everyone, no-store for callers', async () => {
    const control = async (caller: Client) => (await caller.get('/posts?include=user')).headers.get('cache-control');

    expect([await control(api), await control(admin)]).toEqual(['no-cache', 'no-store']);
  });

  it('is in the document of each version with its true form, and only where it is taken', async () => {
    for (const version of ['v1', 'v2']) {
      const document = (await api.get(version === 'v1' ? '//docs/json' : '//docs/v2/json')).body;
      const parameters = (path: string) => document.paths[`/api/${version}${path}`].get.parameters as Node[];
      const includes = (path: string) => parameters(path).find(({ name }) => name === 'include');
      const { schema, ...rest } = includes('/comments/{id}');

      expect(rest).toMatchObject({ in: 'query', required: false, style: 'form', explode: true });
      expect(schema).toMatchObject({
        type: 'array',
        uniqueItems: true,
        maxItems: 3,
        items: { enum: ['post', 'user', 'replies'] },
      });
      expect(includes('/users/{userId}/posts').schema.items.enum).toEqual(['user', 'comments']);
      for (const path of ['/products', '/users/{id}', '/users']) expect(includes(path)).toBeUndefined();
      const { PostView, Post } = document.components.schemas as Record<string, Node>;
      expect(Object.keys(PostView.properties as object).slice(-2)).toEqual(['user', 'comments']);
      expect(PostView).not.toHaveProperty('required');
      expect(Post.required).toContain('title');
      expect(Post.properties).not.toHaveProperty('user');
    }
  });
});
