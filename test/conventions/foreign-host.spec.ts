import { sendRaw } from '../../src/platform/testing';
import { Fixtures } from '../support/fixtures';
import { requestOf, routesOf } from '../support/requests';
import { type TestUser, useTestApi } from '../support/test-api';

const HOST = 'evil.example';
const NOT_API = [
  '/docs',
  '/docs/',
  '/docs/json',
  '/docs/v2/json',
  '/docs/swagger-ui.css',
  '/docs/..',
  '/docs//',
  '/',
  '//',
];

/** A request line may name any host (RFC 9112, 3.2.2), and so may `Host`: no answer may pass it on to other people. */
describe('The host that a request names', () => {
  const api = useTestApi({ settings: { CORS_ORIGINS: 'https://app.example' } });
  let admin: TestUser;
  let own: Fixtures;

  beforeAll(async () => {
    admin = await api.admin();
    own = new Fixtures(api, await api.user());
  });

  function send(method: string, target: string, body?: unknown, extra: Record<string, string> = {}) {
    const text = body === undefined ? '' : JSON.stringify(body);
    const headers = {
      Host: HOST,
      'X-Forwarded-Host': HOST,
      Forwarded: `host=${HOST}`,
      Authorization: `Bearer ${admin.token}`,
      ...(text && { 'Content-Type': 'application/json' }),
      'Content-Length': String(Buffer.byteLength(text)),
      ...extra,
    };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    return sendRaw(api.app.port, `${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n${text}`);
  }

  const said = async (answer: ReturnType<typeof send>) => {
    const { headers, text } = await answer;
    return JSON.stringify(headers) + text;
  };

  it('is in no answer of any route, whichever way it is named', async () => {
    for (const route of routesOf(api)) {
      const { ids = [], query = '', body, headers } = await requestOf(route, own);
      const [method, pattern] = route.split(' ');
      const places = [...ids];
      const path = pattern.replace(/:\w+/g, () => String(places.shift())) + query;
      for (const target of [`http://${HOST}${path}`, path]) {
        expect([route, await said(send(method, target, body, headers))]).not.toEqual([
          route,
          expect.stringContaining(HOST),
        ]);
      }
    }
  });

  it('is in no answer of a list, in whatever version', async () => {
    const writer = await api.user();
    await own.product();
    for (const root of ['/api/v1', '/api/v2', '/api', '/API/v1']) {
      for (const path of ['/products', '/products/', '/posts', `/users/${writer.id}/posts`]) {
        const { status, headers } = await send('GET', `http://${HOST}${root}${path}?size=1&sort=id`);
        expect([root + path, status]).toEqual([root + path, 200]);
        const [, first] = /<([^>]*)>; rel="first"/.exec(headers.link)!;
        expect(first).toBe(`${root}${path}?size=1&sort=id${first.includes('page') ? '&page=0' : ''}`);
      }
    }
  });

  it('is in no answer outside of the API', async () => {
    for (const path of NOT_API) {
      for (const target of [`http://${HOST}${path}`, path, `//${HOST}${path}`, `//${HOST}/..${path}`]) {
        const { headers, text } = await send('GET', target);
        expect([target, headers.location ?? '']).not.toEqual([target, expect.stringMatching(/^(https?:)?\/\/|evil/)]);
        // A path is repeated by nobody.
        expect([target, text.includes(HOST)]).toEqual([target, false]);
      }
    }
  });

  it('gets no CORS headers when it is not one of the origins that are listed', async () => {
    for (const origin of [`http://${HOST}`, `https://${HOST}`, 'https://app.example.evil.example', 'null']) {
      const { headers } = await send('GET', `http://${HOST}/api/v1/products`, undefined, { Origin: origin });
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
  });
});
