import { type Answer, atOnce, type Client, expectError } from '../../src/platform/testing';
import { Fixtures, type Row } from '../support/fixtures';
import type { Node } from '../support/openapi';
import { useTestApi } from '../support/test-api';

/** Lists in a query, which many generators of clients send as repeated parameters. */
describe('A parameter that is a list', () => {
  const api = useTestApi();
  let admin: Client;
  let post: Row;

  beforeAll(async () => {
    admin = api.as(await api.admin());
    const own = new Fixtures(api, await api.user());
    post = await own.post();
    await own.post();
    await own.comment({}, post);
  });

  const dataOf = ({ body }: Answer) => body.data as object;

  it.each(['v1', 'v2'])('may be repeated: it is one list, %s', async (version) => {
    for (const path of ['/posts', `/posts/${post.id}`]) {
      const get = (query: string) => admin.get(`//api/${version}${path}?${query}`);
      const whole = dataOf(await get('fields=id,title&include=user,comments'));

      expect(dataOf(await get('fields=title&include=comments&fields=id&include=user'))).toEqual(whole);
      expect(dataOf(await get('%66ields=id&fields=title,id&include=user,comments'))).toEqual(whole);
    }
  });

  it('stays in the links of a page, and in its cursors', async () => {
    const page = await admin.get('/posts?fields=id&fields=title&size=1');
    const next = /<([^>]+)>; rel="next"/.exec(page.headers.get('link')!)![1];
    const cursors = await admin.get('//api/v2/posts?ids=1&ids=2&fields=id&fields=title&size=1');
    const { next: cursor } = cursors.body.pagination as { next: string };

    expect(next).toContain('fields=id&fields=title');
    expect(Object.keys((dataOf(await admin.get(`/${next}`)) as object[])[0])).toEqual(['id', 'title']);
    expect(await admin.get(`//api/v2/posts?ids=1,2&fields=id&size=1&cursor=${cursor}`)).toMatchObject({ status: 200 });
  });

  it.each([
    ['fields=id&fields=', { fields: 'enum' }],
    ['fields=id&fields=colour', { fields: 'enum' }],
    [`${'fields=id&'.repeat(9)}`, { fields: 'enum' }],
    [`${'fields=id&'.repeat(800)}`, { fields: 'enum' }],
    ['include=user&include=user', { include: 'enum' }],
    ['ids=1&ids=x', { ids: 'ids' }],
    [`${'ids=1&'.repeat(101)}`, { ids: 'ids' }],
    [`${'ids=1&'.repeat(2_000)}`, { ids: 'ids' }],
    [`${'ids=1&'.repeat(10)}${'a=1&'.repeat(101)}`, { query: 'size' }],
  ])('is bounded, and its values are those of the list: %#', async (query, fields) => {
    expectError(await admin.get(`/posts?${query}`), 'VALIDATION_ERROR', { fields });
  });

  it('is the only one that may be repeated', async () => {
    const names = ['page', 'size', 'limit', 'sort', 'sortBy', 'order', 'status', 'search', 'colour'];
    await atOnce(names, async (name) => {
      const answer = await admin.get(`/posts?${name}=1&${name}=1`);
      expectError(answer, 'VALIDATION_ERROR', { fields: { [name]: 'once' } });
    });
  });

  it('is in the document with this form, and has its bounds', async () => {
    for (const [version, path] of [
      ['v1', '//docs/json'],
      ['v2', '//docs/v2/json'],
    ]) {
      const { paths } = (await api.get(path)).body;
      const parameters = Object.values(paths).flatMap((one: Node) => (one.get?.parameters ?? []) as Node[]);
      const lists = parameters.filter(({ in: place, schema }) => place === 'query' && schema?.type === 'array');
      const names = new Set(lists.map(({ name }) => name as string));
      const { schema } = (paths[`/api/${version}/comments`].get.parameters as Node[]).find(
        ({ name }) => name === 'postId',
      )!;

      expect([...names].sort()).toEqual(['commentId', 'fields', 'ids', 'include', 'postId', 'userId', 'user_id']);
      for (const one of lists) expect(one).toMatchObject({ required: false, style: 'form', explode: true });
      const items = { type: 'integer', format: 'int64', minimum: 1 };
      expect(schema).toMatchObject({ minItems: 1, maxItems: 100, items });
    }
  });
});
