import { expectError } from '../../src/platform/testing';
import { type TestUser, useTestApi } from '../support/test-api';

const ALL = 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS';

describe('OPTIONS', () => {
  const api = useTestApi();
  let [user, admin]: TestUser[] = [];

  beforeAll(async () => {
    [user, admin] = await Promise.all([api.user(), api.admin()]);
  });

  it.each([
    ['products', 'GET, HEAD, POST, OPTIONS', 'GET, HEAD, OPTIONS'],
    ['products/1', ALL, 'GET, HEAD, OPTIONS'],
    ['users/1', ALL, ALL],
    ['auth/tokens', 'POST, PUT, DELETE, OPTIONS', 'POST, PUT, DELETE, OPTIONS'],
  ])('lists all methods of /%s without a token, and with one those of its roles', async (path, all, ofUsers) => {
    for (const [who, client, methods] of [
      ['anonymous', api, all],
      ['USER', api.as(user), ofUsers],
      ['ADMIN', api.as(admin), all],
    ] as const) {
      for (const place of [`/${path}`, `//api/v2/${path}`, `//api/${path}`]) {
        const { status, headers } = await client.options(place);
        expect([who, place, status, headers.get('allow')]).toEqual([who, place, 204, methods]);
        expect(headers.has('accept-patch')).toBe(methods.includes('PATCH'));
        expect(headers.get('vary')).toContain('Authorization');
      }
    }
  });

  it('answers 401 to a token that is not good', async () => {
    expectError(await api.with({ Authorization: 'Bearer x' }).options('/products'), 'UNAUTHORIZED');
  });

  it('leaves the Allow of 405 to the path', async () => {
    const answer = await api.as(user).send('PUT', '/products', {});

    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD, POST, OPTIONS']);
  });

  it('answers 404 where there is nothing', async () => {
    expectError(await api.as(user).options('/nothing'), 'NOT_FOUND');
  });
});
