import { expectError, expectSuccess } from '../../src/platform/testing';
import { documentOf } from '../support/contract';
import { useTestApi } from '../support/test-api';

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

interface Link {
  name: string;
  href: string;
  methods: string[];
}

describe('The indexes', () => {
  const api = useTestApi({ settings: { API_DOCS: 'true' } });
  const versions = [
    { version: '1.0.0', href: '/api/v1', document: '/docs/json' },
    { version: '2.0.0', href: '/api/v2', document: '/docs/v2/json' },
  ];

  it.each([
    ['/', 1, '/docs/json', {}],
    ['/api', 1, '/docs/json', {}],
    ['/api', 2, '/docs/v2/json', { Accept: 'application/vnd.api+json;version=2' }],
    ['/api/v1', 1, '/docs/json', {}],
    ['/api/v2', 2, '/docs/v2/json', {}],
    ['/api/v2/', 2, '/docs/v2/json', {}],
  ])('name the service, its versions and documents: %s in version %i', async (path, version, document, headers) => {
    const answer = await api.get(`/${path}`, headers);

    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ code: 200, message: 'OK', timestamp: expect.any(Number) });
    expect(answer.body.data).toMatchObject({
      name: 'Resource API',
      version: `${version}.0.0`,
      links: {
        self: path.replace(/(?<=.)\/$/, ''),
        documentation: '/docs',
        document,
        health: '/health/ready',
      },
      versions,
    });
    expect(answer.headers.get('cache-control')).toBe('public, max-age=300');
    expect(answer.headers.get('vary')).toMatch(/^Accept, Accept-Encoding/);
    expect(answer.headers.get('link')).toContain(`<${document}>; rel="describedby", </docs>; rel="service-doc"`);
  });

  it.each(['1', '2'])('lists each path without an id of the document, in version %s', async (version) => {
    const { resources } = (await api.get(`//api/v${version}`)).body.data as { resources: Link[] };
    const documented = documentOf(version)
      .operations.filter(({ path }) => path.startsWith(`/api/v${version}/`) && !path.includes('{'))
      .map(({ method, path }) => `${method.toUpperCase()} ${path}`);

    expect(resources.length).toBeGreaterThan(3);
    expect(resources.map(({ name }) => name)).toEqual(resources.map(({ name }) => name).sort());
    expect(resources.map(({ name, href }) => href === `/api/v${version}/${name}`)).not.toContain(false);
    expect(resources.flatMap(({ href, methods }) => methods.map((method) => `${method} ${href}`)).sort()).toEqual(
      documented.sort(),
    );
  });

  it('lead to what is there', async () => {
    const { links, versions: found, resources } = (await api.get('//')).body.data;
    const paths = [
      ...Object.values<string>(links),
      ...found.flatMap(({ href, document }: Record<string, string>) => [href, document]),
    ];

    for (const path of paths) expect([path, (await api.get(`/${path}`)).status]).toEqual([path, 200]);
    for (const { href, methods } of resources as Link[]) {
      const { status, headers } = await api.options(`/${href}`);
      expect([href, status, headers.get('allow')!.split(', ')]).toEqual([href, 204, expect.arrayContaining(methods)]);
    }
  });

  it('lead a browser from / to the documentation (303), and nobody else', async () => {
    const { status, headers, text } = await api.get('//', { Accept: BROWSER });

    expect([status, headers.get('location'), headers.get('vary'), text]).toEqual([
      303,
      '/docs',
      'Accept, Accept-Encoding',
      '',
    ]);
    for (const Accept of ['*/*', 'application/json', 'application/json, text/html', 'text/plain']) {
      expectSuccess(await api.get('//', { Accept }));
    }
    // The API itself has no pages.
    expectError(await api.get('//api/v1', { Accept: 'text/html' }), 'NOT_ACCEPTABLE');
  });

  it('are led to the newest document from the well-known place', async () => {
    const { status, headers } = await api.get('//.well-known/openapi.json');

    expect([status, headers.get('location')]).toEqual([302, '/docs/v2/json']);
    expect((await api.get(`/${headers.get('location')}`)).body.info.version).toBe('2.0.0');
  });

  it('are closed to no caller: a bad token is not read', async () => {
    for (const path of ['//', '//api', '//api/v1']) {
      expectSuccess(await api.with({ Authorization: 'Bearer x' }).get(path));
    }
  });

  it('answer 405 with Allow to other methods', async () => {
    for (const path of ['//', '//api', '//api/v2', '//.well-known/openapi.json']) {
      const answer = await api.post(path, {});
      expect([path, answer.status, answer.headers.get('allow')]).toEqual([path, 405, 'GET, HEAD, OPTIONS']);
    }
  });
});

describe('The indexes without documents', () => {
  const api = useTestApi({ settings: { API_DOCS: 'false' } });

  it('link to none', async () => {
    const text = JSON.stringify((await api.get('//api/v1')).body);

    expect(text).toContain('/api/v1/users');
    expect(text).not.toContain('docs');
  });

  it('lead a browser nowhere', async () => {
    expectSuccess(await api.get('//', { Accept: BROWSER }));
    expectError(await api.get('//.well-known/openapi.json'), 'NOT_FOUND');
  });
});
