import { expectError, expectSuccess, sendRaw, times } from '../../src/platform/testing';
import type { TestUser } from '../support/test-api';
import { aThing, useThings } from '../support/use-things';

/** Bytes of the longest answer to a request that is all wrong. */
const MAX_ERROR = 65_536;

describe('what comes in', () => {
  const { api } = useThings();
  let ada: TestUser;

  beforeAll(async () => {
    ada = await api.user({ username: 'ada' });
  });

  describe('as an id in the path', () => {
    it.each([
      ...[
        '1e3',
        '0x10',
        '+1',
        '01',
        '1.0',
        '%201',
        '1%20',
        '0',
        '-1',
        '-0',
        '00',
        '1,0',
        '1_0',
        '0b1',
        '0o7',
        '1n',
        'NaN',
        'Infinity',
      ],
      ...['9223372036854775808', '99999999999999999999', '%D9%A1', '%EF%BC%91', '1%00', '1%2F2', 'null', "1'--", '1;2'],
    ])('is a 400: %s', async (id) => {
      const answer = await api.as(ada).get(`/users/${id}`);

      expectError(answer, 'VALIDATION_ERROR', { fields: { id: 'id' } });
    });

    it.each(['2147483648', '9007199254740991', '9007199254740992', '9007199254740993', '9223372036854775807'])(
      'is a 404, for there is no such user: %s',
      async (id) => {
        expectError(await api.as(ada).get(`/users/${id}`), 'USER_NOT_FOUND');
      },
    );

    it('is never rounded to the id of another row', async () => {
      await api.user({ id: Number.MAX_SAFE_INTEGER });

      expect(await api.as(ada).get('/users/9007199254740991')).toMatchObject({ status: 200 });
      expectError(await api.as(ada).get('/users/9007199254740992'), 'USER_NOT_FOUND');
      expectError(await api.as(ada).get('/users/9007199254740993'), 'USER_NOT_FOUND');
    });

    it.each(['put', 'patch', 'delete'] as const)('is checked for %s as well', async (method) => {
      const body = method === 'delete' ? undefined : { username: 'nobody', email: 'nobody@example.com' };

      expectError(await api.as(ada)[method]('/users/1e3', body), 'VALIDATION_ERROR', { fields: { id: 'id' } });
    });
  });

  describe('as a query', () => {
    const get = (path: string) => sendRaw(api.app.port, `GET /api/v1${path} HTTP/1.1\r\nHost: x\r\n\r\n`);

    it.each([
      ['/things?search=a&search=a', { search: 'once' }],
      ['/things?search=a&%73earch=b&search=c', { search: 'once' }],
      ['/things?a=1&b=1&b=2&a=2', { a: 'once', b: 'once' }],
      [`/things?${'a&'.repeat(101)}`, { query: 'size' }],
      ['/things?more=1', { more: 'unknown' }],
      ['/things?Search=a', { Search: 'unknown' }],
      ['/things?search[]=a', { 'search[]': 'unknown' }],
      ['/things?search[a]=a', { 'search[a]': 'unknown' }],
      ['/things?=a', { '': 'unknown' }],
      ['/things?pattern=a', { pattern: 'unknown' }],
      ['/things?__proto__=a', { __proto__: 'unknown' }],
      ['/things?__proto__[a]=a', { '__proto__[a]': 'unknown' }],
      ['/things?constructor=a', { constructor: 'unknown' }],
      ['/things?toString=a', { toString: 'unknown' }],
      ['/things?hasOwnProperty=a', { hasOwnProperty: 'unknown' }],
      ['/things?search=%', { search: 'encoding' }],
      ['/things?search=%ff', { search: 'encoding' }],
      ['/things?search=%c0%af', { search: 'encoding' }],
      ['/things?search=%ed%a0%80', { search: 'encoding' }],
      ['/things?%zz=1', { query: 'encoding' }],
      ['/things?search=a%00', { search: 'characters' }],
      ['/things?search=a%0Ab', { search: 'characters' }],
      ['/things?search', { search: 'length' }],
      ['/things?search=', { search: 'length' }],
      ['/things?search=++', { search: 'length' }],
      ['/things?search=abcdef', { search: 'length' }],
      ['/things/1?more=1', { more: 'unknown' }],
      ['/things/1?__proto__=1', { __proto__: 'unknown' }],
      ['/things/1?title=1&title=1', { title: 'once' }],
      ['/things/1?fields=more', { fields: 'enum' }],
      ['/things/1?fields=', { fields: 'enum' }],
      ['/things/1?fields=title%00', { fields: 'enum' }],
      ['/public?a=1', { a: 'unknown' }],
    ])('is a 400: %s', async (path, fields) => {
      // A literal's __proto__ is its prototype, not a field.
      const expected = path.includes('__proto__=') ? { ['__proto__']: 'unknown' } : fields;

      expectError(await get(path), 'VALIDATION_ERROR', { fields: expected });
    });

    it('is read like a form: + and %20 are a blank, & alone is nothing', async () => {
      for (const path of ['/things?search=a+b', '/things?search=a%20b', '/things?&search=a%20b&&']) {
        expect(expectSuccess(await get(path))).toEqual({ search: 'a b' });
      }
      expect(expectSuccess(await get('/things?search=a%2Bb'))).toEqual({ search: 'a+b' });
      expect(expectSuccess(await get('/things?search=%F0%9F%98%80'))).toEqual({ search: '😀' });
      expect(expectSuccess(await get('/things?'))).toEqual({});
    });

    it('is refused where the route takes none', async () => {
      expectError(await api.post('/things?more=1', aThing()), 'VALIDATION_ERROR', { fields: { more: 'unknown' } });
      expectError(await api.post('/things?fields=title', aThing()), 'VALIDATION_ERROR', {
        fields: { fields: 'unknown' },
      });
      expectError(await api.as(ada).delete(`/users/${ada.id}?force=1`), 'VALIDATION_ERROR', {
        fields: { force: 'unknown' },
      });
      expect(await api.as(ada).get('/users/profile')).toMatchObject({ status: 200 });
    });

    it.each([
      ['fields', '/things/1?fields=title', '+', 3_000, 'enum'],
      ['fields', '/products?fields=name', '+', 3_000, 'enum'],
      ['search', '/products?search=a', '+', 3_000, 'length'],
      ['cursor', '//api/v2/products?cursor=', 'a', 4_097, 'cursor'],
      ['search', '/products?search=a', '%CC%96%CC%81', 16, 'marks'],
    ])('is not looked at when it is too long: %s of %s', async (name, path, more, count, rule) => {
      expectError(await api.get(path + more.repeat(count)), 'VALIDATION_ERROR', { fields: { [name]: rule } });
    });

    it('is told 20 of its unknown, repeated or malformed parameters, and no more of a name than 100 characters', async () => {
      for (const query of [
        times(100, (n) => `${'%3C'.repeat(40)}${n}=1`),
        times(50, (n) => `${'<'.repeat(120)}${n}=1&${'<'.repeat(120)}${n}=1`),
        times(100, (n) => `${'a'.repeat(110)}${n}=%ff`),
      ]) {
        const answer = await get(`/things/1?${query.join('&')}`);
        const { fields } = expectError(answer, 'VALIDATION_ERROR');
        expect(fields!).toHaveLength(20);
        for (const { field } of fields!) expect(field.length).toBeLessThanOrEqual(101);
        expect(answer.text.length).toBeLessThan(MAX_ERROR);
      }
    });

    it('names the attributes to read of a single resource', async () => {
      expect(expectSuccess(await get('/things/1?fields=title'))).toEqual({ title: 'a thing' });
      expect(expectSuccess(await get('/things/1?fields=%20title%20,title'))).toEqual({ title: 'a thing' });
    });
  });
});
