import { expectError, expectErrorHeaders, headerOf, RawConnection, sendRaw } from '../../src/platform/testing';
import { useTestApi } from '../support/test-api';
import { ErrorsModule } from '../support/modules/accidents';

describe('an error', () => {
  const api = useTestApi({ imports: [ErrorsModule] });
  const request = (line: string, headers = '') =>
    sendRaw(api.app.port, `${line} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`);

  describe('of the router', () => {
    it.each([
      '/nothing',
      '/api/v1/nothing',
      '/api/v0/users',
      '/api/v1/users/1/2/3',
      '//',
      '///',
      '//api/v1/users',
      '/api//v1/users',
      '/api/v1//users',
      '//evil.example/%2e%2e',
      '/%2F',
      '/%2e%2e/%2e%2e/etc/passwd',
      '/../../etc/passwd',
      '/api/v1%2Fusers',
      '/\\',
      '/\\..\\..\\etc',
      '/api\\v1\\users',
      '/%',
      '/%zz',
      '/%ff',
      '/%00',
      '/api/v1/%c0%af',
      '/docs/%zz',
      '/docs/%00',
      '/docs/..%2f..%2fpackage.json',
      '/docs/nothing.js',
      '/health',
      '/.well-known/',
      '/favicon.ico',
      '/;',
      '/nothing?a=1&a=1',
      '/nothing#fragment',
      'http://example.com/nothing',
    ])('is a 404 at %s', async (path) => {
      expectError(await request(`GET ${path}`), 'NOT_FOUND');
    });

    it.each(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'PURGE', 'QUERY'])(
      'is a 404 for %s of an unknown path',
      async (method) => {
        const answer = await request(`${method} /nothing`);

        if (method === 'HEAD') expectErrorHeaders(answer);
        else expectError(answer, 'NOT_FOUND');
        expect(answer).toMatchObject({ status: 404, ...(method === 'HEAD' && { text: '' }) });
      },
    );

    it.each(['/api/v1/accidents/%', '/api/v1/accidents/%zz', '/api/v1/accidents/%ff', '/api/v1/accidents/%c0%af'])(
      'is a 400 for malformed percent-encoding in %s',
      async (path) => {
        expectError(await request(`GET ${path}`), 'VALIDATION_ERROR', { fields: { path: 'encoding' } });
      },
    );

    it.each([
      ['PATCH', '/api/v1/users', 'GET, HEAD, POST, OPTIONS'],
      ['DELETE', '/api/v1/users', 'GET, HEAD, POST, OPTIONS'],
      ['TRACE', '/api/v1/users', 'GET, HEAD, POST, OPTIONS'],
      ['PROPFIND', '/api/v1/users', 'GET, HEAD, POST, OPTIONS'],
      ['POST', '/api/v1/users/1', 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS'],
      ['GET', '/api/v1/auth/tokens', 'POST, PUT, DELETE, OPTIONS'],
      ['POST', '/api/v1/public', 'GET, HEAD, OPTIONS'],
      ['POST', '/health/live', 'GET, HEAD, OPTIONS'],
      ['DELETE', '/.well-known/jwks.json', 'GET, HEAD, OPTIONS'],
    ])('is a 405 with Allow for %s %s', async (method, path, allow) => {
      const answer = await request(`${method} ${path}`);

      expectError(answer, 'METHOD_NOT_ALLOWED');
      expect(headerOf(answer, 'allow')).toBe(allow);
    });

    it('has the same headers, and no body, in the answer to HEAD', async () => {
      const toGet = await request('GET /api/v1/users');
      const toHead = await request('HEAD /api/v1/users');

      expectErrorHeaders(toHead);
      expect(toHead).toMatchObject({ status: 401, text: '' });
      expect(headerOf(toHead, 'content-length')).toBe(headerOf(toGet, 'content-length'));
    });

    it('comes once, and the connection goes on', async () => {
      const connection = await RawConnection.open(api.app.port);
      const bad = ['/nothing', '/api/v1/users', '/api/v1/accidents/%', '/api/v1/accidents/null'];

      connection.write([...bad, '/api/v1/public'].map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`).join(''));
      const answers = await connection.answers(5);
      connection.destroy();

      expect(answers.map(({ status }) => status)).toEqual([404, 401, 400, 500, 200]);
    });
  });
});
