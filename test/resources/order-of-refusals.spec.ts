import { type Client, expectError } from '../../src/platform/testing';
import { Fixtures } from '../support/fixtures';
import { anOrderOf, aPost } from '../support/builders';
import { type TestUser, useTestApi } from '../support/test-api';

describe('access', () => {
  const api = useTestApi();
  let other: TestUser;
  let admin: TestUser;

  beforeAll(async () => {
    [other, admin] = await Promise.all([api.user(), api.admin()]);
  });

  it('to a draft is its author’s and an administrator’s in every list, total and search', async () => {
    const own = new Fixtures(api, await api.user());
    const post = await own.post({ status: 'DRAFT', title: 'Zephyr' });
    const comment = await own.comment({ content: 'A zephyr' }, post);
    await own.reply({ content: 'ZEPHYR' }, comment);
    const lists = [
      '/posts?search=zephyr',
      '/posts?search=zephyr&status=DRAFT&sort=title&fields=title',
      `/users/${own.owner.id}/posts`,
      `/users/${own.owner.id}/posts?search=zephyr`,
      '/replies?search=zephyr',
      `/replies?commentId=${comment.id}`,
    ];
    const found = async (client: Client) => {
      const pages = await Promise.all(lists.map((path) => client.get(path)));
      return pages.map(({ body: { data, pagination } }) => [data.length, pagination.total]);
    };
    const each = (count: number) => lists.map(() => [count, count]);

    expect(await found(api)).toEqual(each(0));
    expect(await found(api.as(other))).toEqual(each(0));
    expect(await found(api.as(own.owner))).toEqual(each(1));
    expect(await found(api.as(admin))).toEqual(each(1));
  });

  describe('is refused for the first reason in the order 401, 403 by role, 400, 404, 403 by ownership, 409:', () => {
    let own: Fixtures;
    beforeAll(async () => {
      own = new Fixtures(api, await api.user());
    });
    const as = (kind: 'anonymous' | 'owner' | 'other' | 'ADMIN') =>
      ({ anonymous: api, owner: api.as(own.owner), other: api.as(other), ADMIN: api.as(admin) })[kind];

    it.each([
      ['POST', '/products', {}],
      ['PUT', '/products/0', {}],
      ['PATCH', '/products/0?colour=red', { price: -1 }],
      ['DELETE', '/products/999999', undefined],
      ['POST', '/products', '{"name":'],
    ])('%s %s', async (method, path, body) => {
      expectError(await as('anonymous').send(method, path, body), 'UNAUTHORIZED');
      expectError(await as('other').send(method, path, body), 'FORBIDDEN');
      const code = method === 'DELETE' ? 'NOT_FOUND' : 'VALIDATION_ERROR';
      expectError(await as('ADMIN').send(method, path, body), code);
    });

    it.each([
      ['PUT', '/posts/999999', { title: '', content: 'x' }, aPost(), 'NOT_FOUND'],
      ['PATCH', '/posts/999999', { title: '' }, { title: 'x' }, 'NOT_FOUND'],
      ['PATCH', '/comments/999999', { content: ' ' }, { content: 'x' }, 'NOT_FOUND'],
      ['PATCH', '/replies/999999', { comment_id: 1 }, { content: 'x' }, 'NOT_FOUND'],
      ['POST', '/posts/999999/comments', {}, { content: 'x' }, 'NOT_FOUND'],
      ['POST', '/users/999999/posts', {}, aPost(), 'USER_NOT_FOUND'],
      ['PATCH', '/users/999999', { name: 1 }, { name: 'x' }, 'USER_NOT_FOUND'],
      ['PATCH', '/orders/999999/status', { status: 'GONE' }, { status: 'PAID' }, 'NOT_FOUND'],
    ] as const)('%s %s', async (method, path, invalid, valid, code) => {
      expectError(await as('anonymous').send(method, path, invalid), 'UNAUTHORIZED');
      expectError(await as('other').send(method, path, invalid), 'VALIDATION_ERROR');
      expectError(await as('other').send(method, path, valid), code);
    });

    it('an order of another user that can’t be cancelled any more', async () => {
      const path = `/orders/${(await own.order({ status: 'SHIPPED' })).id}/status`;

      expectError(await as('other').patch(path, { status: 'GONE' }), 'VALIDATION_ERROR');
      expectError(await as('other').patch(path, { status: 'CANCELLED' }), 'FORBIDDEN');
      expectError(await as('owner').patch(path, { status: 'DELIVERED' }), 'FORBIDDEN');
      expectError(await as('owner').patch(path, { status: 'CANCELLED' }), 'CONFLICT');
      expectError(await as('ADMIN').patch(path, { status: 'PAID' }), 'CONFLICT');
    });

    it('a name that is taken, for another user', async () => {
      const path = `/users/${own.owner.id}`;
      const { username } = await api.user();

      expectError(await as('owner').patch(path, { username, email: 'x' }), 'VALIDATION_ERROR');
      expectError(await as('other').patch(path, { username }), 'FORBIDDEN');
      expectError(await as('owner').patch(path, { username }), 'CONFLICT');
    });

    it('an order of too few pieces, with a line that is wrong', async () => {
      const few = await own.product({ stock: 1 });
      const fortune = await own.product({ stock: 1, price: 9_999_999_999.99 });

      expectError(await as('owner').post('/orders', anOrderOf([few, 2], { id: 999_999 })), 'VALIDATION_ERROR', {
        fields: { 'items.1.product_id': 'exists' },
      });
      expectError(await as('owner').post('/orders', anOrderOf([few, 2], [fortune, 2])), 'VALIDATION_ERROR', {
        fields: { items: 'total' },
      });
      expectError(await as('owner').post('/orders', anOrderOf([few, 2])), 'CONFLICT');
    });
  });
});
