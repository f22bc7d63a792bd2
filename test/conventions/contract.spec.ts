import { requireAsDocumented } from '../support/contract';

const product = {
  id: 1,
  created_at: '2026-01-31T12:00:00.000Z',
  updated_at: '2026-01-31T12:00:00.000Z',
  version: 1,
  name: 'Espresso cup',
  description: null,
  price: 9.95,
  stock: 120,
  status: 'ACTIVE',
  image: null,
};
const headers = { 'Content-Type': 'application/json; charset=utf-8', 'X-Request-Id': 'a1b2c3', ETag: '"1"' };

// Every answer that a test's client gets is compared; this is about the comparison.
describe('The document, compared with an answer,', () => {
  const compare = (data: object, others: { path?: string; status?: number; headers?: Record<string, string> } = {}) => {
    const { path = '/api/v1/products/1', status = 200 } = others;
    const body = { code: 200, message: 'OK', data, timestamp: 1767225600000 };
    const answer = { status, headers: new Headers(others.headers ?? headers), body, text: JSON.stringify(body) };
    return () => requireAsDocumented({ method: 'GET', url: new URL(path, 'http://localhost'), headers: {} }, answer);
  };
  const { name, ...nameless } = product;
  const vendor = (version: number) => ({ ...headers, 'Content-Type': `application/vnd.api+json; version=${version}` });

  it.each([
    ['is there', compare(product)],
    ['is reduced to some attributes', compare({ id: 1, name }, { path: '/api/v1/products/1?fields=id,name' })],
    ['names the version', compare(product, { path: '/api/products/1', headers: vendor(2) })],
    ['belongs to no operation', compare({}, { path: '/api/v1/nothing', status: 404 })],
  ])('lets pass what %s', (_, comparison) => {
    expect(comparison).not.toThrow();
  });

  it.each([
    ['a status', compare(product, { status: 418 }), 'the status is not documented'],
    [
      'a media type',
      compare(product, { headers: { ...headers, 'Content-Type': 'text/html' } }),
      'media type is text/html',
    ],
    [
      'a media type of another version',
      compare(product, { headers: vendor(2) }),
      'version=2 instead of application/json',
    ],
    ['an attribute', compare({ ...product, secret: 1 }), '/data has `secret`, which its schema lacks'],
    ['an attribute that is missing', compare(nameless), "must have required property 'name'"],
    [
      'an attribute that was not asked for',
      compare(product, { path: '/api/v1/products/1?fields=id' }),
      'which its schema lacks',
    ],
    ['a value', compare({ ...product, status: 'GONE' }), '/data/status must be equal to one of the allowed values'],
    ['a header', compare(product, { headers: { ...headers, Sunset: 'x' } }), 'header sunset is not documented'],
    [
      'a header that is missing',
      compare(product, { headers: { 'Content-Type': 'application/json' } }),
      'X-Request-Id is missing',
    ],
  ])('fails for %s that it does not have', (_, comparison, difference) => {
    expect(comparison).toThrow(difference);
  });
});
