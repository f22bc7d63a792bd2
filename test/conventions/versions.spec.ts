import { Controller, Get, HttpStatus, Module } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import { Public } from '../../src/platform/auth/access.decorators';
import { Deprecated } from '../../src/platform/http/deprecated';
import { type Answer, expectError } from '../../src/platform/testing';
import { Fixtures } from '../support/fixtures';
import { useTestApi } from '../support/test-api';

const vendor = (version: number | string) => `application/vnd.api+json;version=${version}`;
const JSON_TYPE = 'application/json; charset=utf-8';
const XML_TYPE = 'application/xml; charset=utf-8';
const VENDOR_1 = 'application/vnd.api+json; version=1';
const VENDOR_2 = 'application/vnd.api+json; version=2';

/** On the unversioned path: what is accepted, and what comes. */
const ACCEPTED: [accept: string, type: string, version: 1 | 2][] = [
  ['*/*', JSON_TYPE, 1],
  ['', JSON_TYPE, 1],
  ['application/json', JSON_TYPE, 1],
  ['application/json; charset=utf-8', JSON_TYPE, 1],
  ['application/*', JSON_TYPE, 1],
  ['text/html, application/xhtml+xml, application/xml;q=0.9, */*;q=0.8', JSON_TYPE, 1],
  ['application/xml', XML_TYPE, 1],
  ['application/json;q=0.5, application/xml', XML_TYPE, 1],
  ['application/json, application/xml', JSON_TYPE, 1],
  ['application/vnd.api+json', VENDOR_1, 1],
  [vendor(1), VENDOR_1, 1],
  [vendor(2), VENDOR_2, 2],
  [vendor('"2"'), VENDOR_2, 2],
  ['application/vnd.api+json ; q=1 ; version="2"', VENDOR_2, 2],
  ['Application/VND.API+JSON;Version=2', VENDOR_2, 2],
  ['application/vnd.api+json;charset=utf-8;version=2', VENDOR_2, 2],
  ['application/vnd.api+json;version=2;charset=utf-8', VENDOR_2, 2],
  [`application/json;q=0.5, ${vendor(2)}`, VENDOR_2, 2],
  [`${vendor(1)};q=0.1, ${vendor(2)};q=0.2`, VENDOR_2, 2],
  [`${vendor(9)}, application/json;q=0.1`, JSON_TYPE, 1],
  [`${vendor(1)};q=0, ${vendor(2)}`, VENDOR_2, 2],
  // A caller that names HTML gets XML only where it accepts no JSON.
  ['text/html, application/xml', XML_TYPE, 1],
  ['text/html, application/xml, application/json;q=0.1', JSON_TYPE, 1],
  [`text/html, application/xml, ${vendor(2)};q=0.1`, VENDOR_2, 2],
];

const NOT_ACCEPTED = [
  vendor(3),
  vendor('x'),
  vendor(''),
  vendor('01'),
  `${vendor(3)}, text/html`,
  'text/html',
  'image/png',
  'application/json;q=0',
  'nonsense',
];

@Controller('old')
class OldController {
  @Get('announced')
  @Public()
  @ApiOkResponse({ description: 'OK' })
  @Deprecated({ since: '2026-01-31', sunset: '2027-01-31T12:00:00Z', link: 'https://example.com/new' })
  announced() {
    return { here: 'still' };
  }

  @Get('since')
  @Public()
  @Deprecated({ since: '2026-01-31' })
  since() {
    return { here: 'still' };
  }
}

@Module({ controllers: [OldController] })
class OldModule {}

describe('A version', () => {
  const api = useTestApi({ imports: [OldModule] });
  const at = (path: string, Accept?: string) => api.get(`//api${path}`, Accept === undefined ? {} : { Accept });
  const versionOf = ({ text }: Answer) => (text.includes('totalPages') ? 1 : 2);
  let product: number;

  beforeAll(async () => {
    product = (await new Fixtures(api, await api.user()).product()).id;
  });

  it('is named by the path', async () => {
    expect(versionOf(await at('/v1/products'))).toBe(1);
    expect(versionOf(await at('/v2/products'))).toBe(2);
    expect(versionOf(await at('/V2/products'))).toBe(2);
  });

  it.each(ACCEPTED)('is negotiated on the unversioned path: %j gets %s', async (accept, type, version) => {
    const answer = await at('/products', accept);

    expect([answer.status, answer.headers.get('content-type')]).toEqual([HttpStatus.OK, type]);
    expect(versionOf(answer)).toBe(version);
    expect(answer.headers.get('vary')).toMatch(/\bAccept\b(?!-)/);
  });

  it.each(NOT_ACCEPTED)('is 406 on the unversioned path when nothing is left: %j', async (accept) => {
    expectError(await at('/products', accept), 'NOT_ACCEPTABLE');
  });

  it('may be named by the media type too when the path names it, but not another one', async () => {
    expect((await at('/v2/products', vendor(2))).headers.get('content-type')).toBe(VENDOR_2);
    expect((await at('/v2/products', 'application/vnd.api+json')).headers.get('content-type')).toBe(VENDOR_2);
    expect((await at('/v2/products', 'application/json')).headers.get('content-type')).toBe(JSON_TYPE);
    expectError(await at('/v1/products', vendor(2)), 'NOT_ACCEPTABLE');
    expectError(await at('/v1/products', 'text/html'), 'NOT_ACCEPTABLE');
  });

  it.each(['/v0/products', '/v3/products', '/v01/products', '/v99999999999999999999/products', '/v3'])(
    'is 404 when it is unknown, in the path: %s',
    async (path) => {
      expectError(await at(path), 'NOT_FOUND');
    },
  );

  it('comes before everything else', async () => {
    expectError(await api.post('//api/v9/products', '{'), 'NOT_FOUND');
    expectError(await api.post('//api/products', '{', { Accept: vendor(9) }), 'NOT_ACCEPTABLE');
    expectError(await api.get('//api/orders', { Accept: vendor(9) }), 'NOT_ACCEPTABLE');
    expectError(await api.get('//api/nothing', { Accept: vendor(9) }), 'NOT_FOUND');
  });

  it('has one routing table: everything but lists is the same in each', async () => {
    const answers = await Promise.all(['/v1', '/v2', ''].map((root) => at(`${root}/products/${product}`)));

    for (const { body } of answers) expect(body.data).toEqual(answers[0].body.data);
    expect((await api.send('PATCH', '//api/v2/products')).headers.get('allow')).toBe('GET, HEAD, POST, OPTIONS');
    expect((await api.options(`//api/products/${product}`)).headers.get('allow')).toBe(
      'GET, HEAD, PUT, PATCH, DELETE, OPTIONS',
    );
  });

  it('is the one that links and places lead to', async () => {
    const admin = api.as(await api.admin());
    const create = (root: string) => admin.post(`//api${root}/products`, { name: 'Cup', price: 1 });

    for (const root of ['/v1', '/v2', '']) {
      const { headers, body } = await create(root);
      expect(headers.get('location')).toBe(`/api${root}/products/${body.data.id}`);
      expect((await at(`${root}/products?size=1`)).headers.get('link')).toContain(`</api${root}/products?`);
    }
  });

  it('is the media type of errors too, where the media type named it', async () => {
    const missing = await at('/products/999999', vendor(2));

    expect(missing.status).toBe(404);
    expect(missing.headers.get('content-type')).toBe(VENDOR_2);
    expect(missing.body.error.code).toBe('NOT_FOUND');
  });

  it('is what the log names', async () => {
    await at('/v2/products');
    expect(api.app.log.findLast(({ route }) => route === '/api/products')).toMatchObject({ version: 2 });
  });

  it('leaves plain text to those who take it', async () => {
    expect((await at('/v1/public', 'text/plain')).status).toBe(200);
    expect((await at('/v1/public', 'text/*')).status).toBe(200);
    expectError(await at('/v1/public', 'application/json'), 'NOT_ACCEPTABLE');
  });

  it('does not concern what is outside the API', async () => {
    expect((await api.get('//health/live', { Accept: 'text/html' })).status).toBe(200);
    expect((await api.get('//.well-known/jwks.json', { Accept: 'application/jwk-set+json' })).status).toBe(200);
  });
});

describe('A deprecated route', () => {
  const api = useTestApi({ imports: [OldModule] });

  it('says since when, until when, and what to do instead', async () => {
    const { status, headers } = await api.get('/old/announced');

    expect(status).toBe(200);
    expect(headers.get('deprecation')).toBe('@1769817600');
    expect(headers.get('sunset')).toBe('Sun, 31 Jan 2027 12:00:00 GMT');
    expect(headers.get('link')).toBe('<https://example.com/new>; rel="deprecation"; type="text/html"');
  });

  it('need not have an end yet', async () => {
    const { headers } = await api.get('/old/since');

    expect([headers.get('deprecation'), headers.get('sunset'), headers.get('link')]).toEqual([
      '@1769817600',
      null,
      null,
    ]);
  });

  it('is marked in the document', async () => {
    const { paths } = (await api.get('//docs/json')).body;
    const { get } = paths['/api/v1/old/announced'];

    expect(get.deprecated).toBe(true);
    expect(Object.keys(get.responses[200].headers as object)).toEqual(
      expect.arrayContaining(['Deprecation', 'Sunset', 'Link']),
    );
    expect(paths['/api/v1/public'].get.deprecated).toBeUndefined();
  });

  it('cannot be announced for what is no date', () => {
    expect(() => Deprecated({ since: 'soon' })).toThrow('soon is not a date');
  });
});
