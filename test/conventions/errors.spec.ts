import { expectError, expectErrorEnvelope } from '../../src/platform/testing';
import { type TestUser, useTestApi } from '../support/test-api';
import { ErrorsModule, SECRET, accidents, intended } from '../support/modules/accidents';

describe('an error', () => {
  const api = useTestApi({ imports: [ErrorsModule] });

  describe('of a handler', () => {
    it.each(Object.keys(accidents))('is a 500 that tells nothing: %s', async (name) => {
      expectError(await api.get(`/accidents/${encodeURIComponent(name)}`), 'INTERNAL_ERROR', { secret: SECRET });
    });

    it.each(Object.entries(intended))('has the code of what was thrown: %s', async (code, thrown) => {
      const error = expectError(await api.get(`/failures/${code}`), code);

      if (code === 'CONFLICT') expect(error).toMatchObject({ message: thrown().message, details: thrown().message });
      if (code === 'SERVICE_UNAVAILABLE') expect(JSON.stringify(error)).not.toContain(thrown().message);
    });

    it('takes nothing along that was meant for the success', async () => {
      const answer = await api.get('/failures/prepared');

      expectError(answer, 'CONFLICT');
      expect(['etag', 'location', 'link'].filter((name) => answer.headers.has(name))).toEqual([]);
    });

    it('says Request <id> in the details of a 5xx, and the id is that of the header', async () => {
      const answer = await api.get('/accidents/null', { 'X-Request-Id': 'mine.1' });

      expect(expectError(answer, 'INTERNAL_ERROR').details).toBe('Request mine.1');
      expect(answer.headers.get('x-request-id')).toBe('mine.1');
    });
  });

  describe('of the database', () => {
    it.each([
      ['22021', 'INTERNAL_ERROR'],
      ['42P01', 'INTERNAL_ERROR'],
      ['23505', 'CONFLICT'],
      ['23503', 'VALIDATION_ERROR'],
      ['23514', 'VALIDATION_ERROR'],
      ['40001', 'SERVICE_UNAVAILABLE'],
      ['40P01', 'SERVICE_UNAVAILABLE'],
      ['53300', 'SERVICE_UNAVAILABLE'],
      ['57014', 'SERVICE_UNAVAILABLE'],
      ['57P01', 'SERVICE_UNAVAILABLE'],
      ['08006', 'SERVICE_UNAVAILABLE'],
    ] as const)('with SQLSTATE %s is %s, without a word of its message', async (state, code) => {
      expectError(await api.get(`/failures/sql/${state}`), code, { secret: SECRET });
    });
  });

  describe('of several that a request deserves', () => {
    let user: TestUser;
    let admin: TestUser;

    beforeAll(async () => {
      user = await api.user();
      admin = await api.admin();
    });

    const mistakes: [name: string, path: string, body: string, type?: string][] = [
      ['malformed JSON', '/notes/1', '{"text":'],
      ['a broken rule', '/notes/1', '{"text":""}'],
      ['an unknown attribute', '/notes/1', '{"text":"a","more":1}'],
      ['a bad id', '/notes/1e3', '{"text":"a"}'],
      ['an unknown parameter', '/notes/1?more=1', '{"text":"a"}'],
      ['a repeated parameter', '/notes/1?a=1&a=1', '{"text":"a"}'],
      ['malformed percent-encoding in the query', '/notes/1?%zz', '{"text":"a"}'],
      ['another media type', '/notes/1', 'text=a', 'application/x-www-form-urlencoded'],
      ['a body that is too large', '/notes/1', ' '.repeat(2 ** 20 + 1)],
    ];

    it.each(mistakes)('is 401 before %s', async (_name, path, body, type = 'application/json') => {
      expectError(await api.post(path, body, { 'Content-Type': type }), 'UNAUTHORIZED');
      const answer = await api.with({ Authorization: 'Bearer nonsense' }).post(path, body, { 'Content-Type': type });
      expectError(answer, 'UNAUTHORIZED');
      expect(answer.headers.get('www-authenticate')).toContain('error="invalid_token"');
    });

    it.each(mistakes)('is 403 by role before %s', async (_name, path, body, type = 'application/json') => {
      expectError(await api.as(user).post(path, body, { 'Content-Type': type }), 'FORBIDDEN');
    });

    it.each(mistakes)('is found at last: %s', async (_name, path, body, type = 'application/json') => {
      const answer = await api.as(admin).post(path, body, { 'Content-Type': type });

      expect([400, 413, 415]).toContain(answer.status);
      expectErrorEnvelope(answer);
    });

    it.each(['/users/0', '/users/1e3', '/users?page=-1', '/users/profile?more=1'])(
      'is 401 before 400 at %s',
      async (path) => {
        expectError(await api.get(path), 'UNAUTHORIZED');
        expectError(await api.as(user).get(path), 'VALIDATION_ERROR');
      },
    );

    it('is 400 before 404, and 404 before 403 by ownership', async () => {
      expectError(await api.as(user).patch('/users/999999', { username: '' }), 'VALIDATION_ERROR');
      expectError(await api.as(user).patch('/users/999999', { username: 'somebody' }), 'USER_NOT_FOUND');
      expectError(await api.as(user).patch(`/users/${admin.id}`, { username: 'somebody' }), 'FORBIDDEN');
    });
  });
});
