import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { dirname } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { useTestApi } from '../support/test-api';

describe.each([
  ['true', 200],
  ['false', 404],
])('With API_DOCS=%s', (API_DOCS, status) => {
  const api = useTestApi({ settings: { API_DOCS } });

  it.each(['//docs', '//docs/json', '//docs/v2/json'])(`%s is ${status}`, async (path) => {
    const answer = await api.get(path);

    expect(answer.status).toBe(status);
    if (status === 404) expect(answer.body.error.code).toBe('NOT_FOUND');
  });

  it('the API itself is there', async () => {
    expect(await api.get('/products')).toMatchObject({ status: 200 });
  });
});

describe('The files of /docs', () => {
  const api = useTestApi({ settings: { API_DOCS: 'true' } });
  const PATHS = [
    ...['/docs', '/docs/', '/docs/swagger-ui-init.js', '/docs/json', '/docs/v2/json'],
    ...['/docs/swagger-ui.css', '/docs/swagger-ui-bundle.js', '/docs/swagger-ui-standalone-preset.js'],
  ];
  /** As it is sent: fetch() unpacks what comes, and takes the dots out of a path. */
  const ask = async (path: string, headers: Record<string, string> = {}) => {
    const request = get({ port: api.app.port, path, headers, agent: false });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    return { status: response.statusCode, headers: response.headers, bytes: await buffer(response) };
  };
  const unpacked = { gzip: gunzipSync, br: brotliDecompressSync };

  it.each(PATHS)('are the same compressed and not, and come once: %s', async (path) => {
    // With a query Nest answers by itself.
    const plain = await ask(`${path}?plain${path.endsWith('/') ? '/' : ''}`);
    expect(plain.status).toBe(200);
    for (const round of ['made', 'kept']) {
      const identity = await ask(path);
      expect([round, identity.bytes.equals(plain.bytes)]).toEqual([round, true]);
      for (const encoding of ['gzip', 'br'] as const) {
        const { headers, bytes } = await ask(path, { 'Accept-Encoding': encoding });
        expect([round, headers['content-encoding'], headers.vary]).toEqual([
          round,
          encoding,
          expect.stringContaining('Accept-Encoding'),
        ]);
        expect(unpacked[encoding](bytes).equals(plain.bytes)).toBe(true);
        expect(headers['content-type']).toBe(identity.headers['content-type']);
        expect(headers.etag).not.toBe(identity.headers.etag);
        const again = await ask(path, { 'Accept-Encoding': encoding, 'If-None-Match': headers.etag! });
        expect([again.status, again.bytes.length, again.headers.etag]).toEqual([304, 0, headers.etag]);
      }
    }
  });

  it.each(['/docs/json', '/docs/v2/json'])('are kept whatever their query says: %s', async (path) => {
    const { etag } = (await ask(path)).headers;
    expect(etag).toBeDefined();

    for (const query of ['?', '?/', '?a=b', '?a/b/']) {
      expect([query, (await ask(path + query)).headers.etag]).toEqual([query, etag]);
    }
  });

  it.each([
    ['/docs/json', '/docs/JSON', '/docs/json/', '/Docs/Json/?x'],
    ['/docs/v2/json', '/docs/V2/json/', '/DOCS/v2/json'],
    ['/docs/swagger-ui-init.js', '/docs/Swagger-UI-init.js', '/docs/swagger-ui-init.js/?x'],
  ])('are made once, however %s is spelled', async (path, ...spellings) => {
    const { etag } = (await ask(path)).headers;
    expect(etag).toBeDefined();

    for (const spelling of spellings) expect([spelling, (await ask(spelling)).headers.etag]).toEqual([spelling, etag]);
  });

  it('are what its page loads', async () => {
    const page = String((await ask('/docs/')).bytes);
    const names = [...page.matchAll(/(?:src|href)="\.\/([^"]+)"/g)].map(([, name]) => name);

    expect(names.length).toBeGreaterThan(4);
    for (const name of names) expect([name, (await ask(`/docs/${name}`)).status]).toEqual([name, 200]);
  });

  it('are no others of the package that they come from', async () => {
    const folder = dirname(require.resolve('swagger-ui-dist/package.json'));
    const loaded = PATHS.map((path) => path.replace('/docs/', '')).concat(['favicon-16x16.png', 'favicon-32x32.png']);
    // A page that Nest makes has this name, too.
    const others = (await readdir(folder)).filter((name) => ![...loaded, 'index.html'].includes(name));

    expect(others).toEqual(expect.arrayContaining(['package.json', 'swagger-ui-bundle.js.map', 'absolute-path.js']));
    for (const name of others) {
      for (const path of [`/docs/${name}`, `/docs/docs/${name}`, `/docs/v2/${name}`, `/DOCS/${name}`]) {
        const { status, bytes } = await ask(path);
        expect([path, status, JSON.parse(String(bytes)).error?.code]).toEqual([path, 404, 'NOT_FOUND']);
      }
    }
    expect(String((await ask('/docs/index.html')).bytes)).toContain('<title>Resource API</title>');
  });

  it('are not what somebody made of their path before', async () => {
    await Promise.all(['/docs?a=/', '/docs?/', '/docs/?x'].map((path) => ask(path)));

    expect(String((await ask('/docs')).bytes)).toContain('"./docs/swagger-ui-bundle.js"');
    expect(String((await ask('/docs/')).bytes)).toContain('"./swagger-ui-bundle.js"');
  });

  it('cost little once they are compressed', async () => {
    const path = '/docs/swagger-ui-bundle.js';
    const { bytes } = await ask(path);
    await ask(path, { 'Accept-Encoding': 'gzip' });
    const cpuOf = async (work: () => Promise<unknown> | Buffer) => {
      const before = process.cpuUsage();
      for (let time = 0; time < 5; time++) await work();
      const { user, system } = process.cpuUsage(before);
      return user + system;
    };
    // The least, because other work of the process counts as well, such as a collection of its garbage.
    const leastOf = async (work: () => Promise<unknown> | Buffer) =>
      Math.min(await cpuOf(work), await cpuOf(work), await cpuOf(work));
    const asked = await leastOf(() => ask(path, { 'Accept-Encoding': 'gzip' }));

    // The client's work counts, too: with a compression each time it would be more.
    expect(asked).toBeLessThan(await leastOf(() => gzipSync(bytes)));
  });
});
