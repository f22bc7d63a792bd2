import type { Answer } from '../../src/platform/testing';
import { useTestApi } from '../support/test-api';

const ORIGIN = 'https://app.example.com';

describe('what goes out', () => {
  const api = useTestApi({ settings: { CORS_ORIGINS: `${ORIGIN},http://localhost:8080` } });

  describe('to another origin', () => {
    const from = (origin: string) => api.with({ Origin: origin });
    const corsHeaders = ({ headers }: Answer) =>
      Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-')));
    const preflight = (origin: string, path: string) =>
      from(origin).options(path, {
        'Access-Control-Request-Method': 'PUT',
        'Access-Control-Request-Headers': 'authorization,x-anything',
      });
    const ALLOWED = { 'access-control-allow-origin': ORIGIN, 'access-control-allow-credentials': 'true' };

    it.each([
      ['/public', 200],
      ['/users', 401],
      ['/nothing', 404],
      ['/auth/tokens', 405],
      ['/public?more=1', 400],
    ])('may be read if it is listed: %s', async (path, status) => {
      const answer = await from(ORIGIN).get(path);

      expect(answer.status).toBe(status);
      expect(corsHeaders(answer)).toEqual({
        ...ALLOWED,
        'access-control-expose-headers':
          'ETag,Link,Location,RateLimit,RateLimit-Policy,Retry-After,X-Request-Id,Idempotent-Replayed,WWW-Authenticate,Preference-Applied,' +
          'Upload-Expires,Upload-Length,Upload-Metadata,Upload-Offset,Content-Disposition,Content-Range,Accept-Ranges,' +
          'Tus-Resumable,Tus-Version,Tus-Max-Size,Tus-Extension,Tus-Checksum-Algorithm',
      });
      expect(answer.headers.get('vary')).toContain('Origin');
    });

    it.each(['/users', '/users/1', '/auth/tokens', '/nothing'])(
      'is allowed in advance if it is listed: %s',
      async (path) => {
        const answer = await preflight(ORIGIN, path);

        expect(answer).toMatchObject({ status: 204, text: '' });
        expect(corsHeaders(answer)).toMatchObject({
          ...ALLOWED,
          'access-control-allow-methods': 'GET,POST,PUT,DELETE',
          'access-control-allow-headers': 'authorization,x-anything',
          'access-control-max-age': '7200',
        });
        expect(answer.headers.get('vary')).toMatch(/Origin.*Access-Control-Request-Headers/);
      },
    );

    it.each([
      'https://evil.example',
      'https://app.example.com.evil.example',
      'https://app.example.co',
      'http://app.example.com',
      'https://app.example.com:8443',
      'https://APP.example.com',
      'http://localhost',
      'null',
      '*',
    ])('gets no word of it if it is not listed: %s', async (origin) => {
      const answers = [
        await from(origin).get('/public'),
        await from(origin).get('/users'),
        await preflight(origin, '/users'),
      ];

      expect(answers.map(({ status }) => status)).toEqual([200, 401, 204]);
      expect(answers.map(corsHeaders)).toEqual([{}, {}, {}]);
      answers.forEach(({ headers }) => expect(headers.get('vary')).toContain('Origin'));
    });

    it('gets the same answer to an OPTIONS that is no preflight as anyone', async () => {
      const answer = await from(ORIGIN).options('/users');

      expect(answer.headers.get('allow')).toBe('GET, HEAD, POST, OPTIONS');
      expect(corsHeaders(answer)).toMatchObject(ALLOWED);
    });

    it('concerns the API alone', async () => {
      expect(corsHeaders(await from(ORIGIN).get('//health/live'))).toEqual({});
      expect(corsHeaders(await from(ORIGIN).get('//docs/json'))).toEqual({});
    });
  });
});

describe('other methods of CORS', () => {
  const api = useTestApi({ settings: { CORS_ORIGINS: ORIGIN, CORS_METHODS: 'GET, PATCH' } });

  it('are those of the setting', async () => {
    const answer = await api.options('/users', { Origin: ORIGIN, 'Access-Control-Request-Method': 'PATCH' });

    expect(answer.headers.get('access-control-allow-methods')).toBe('GET,PATCH');
  });
});
