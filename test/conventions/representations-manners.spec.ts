import { randomUUID } from 'node:crypto';
import { toXml } from '../../src/platform/http/xml';
import { Client, times } from '../../src/platform/testing';
import { Fixtures } from '../support/fixtures';
import { useTestApi } from '../support/test-api';
import { fromXml, XML, XML_TYPE } from '../support/xml';

const PLAIN = { 'Accept-Encoding': 'identity' };
const inXml = (value: object) => Buffer.from(toXml(JSON.stringify(value)));

describe('XML', () => {
  const api = useTestApi();
  let admin: Client;
  let own: Fixtures;

  beforeAll(async () => {
    admin = api.as(await api.admin()).with(PLAIN);
    own = new Fixtures(api, await api.user());
  });

  it('has entity tags of its own, and 304 by them alone', async () => {
    const { id } = await own.product();
    const get = (Accept: string, tag?: string) =>
      admin.get(`/products/${id}`, { Accept, ...(tag && { 'If-None-Match': tag }) });

    expect((await get('application/xml')).headers.get('etag')).toBe('"1-applicationxml"');
    expect((await get('text/xml')).headers.get('etag')).toBe('"1-textxml"');
    expect((await get('application/xml', '"1-applicationxml"')).status).toBe(304);
    expect((await get('application/xml', '"1"')).status).toBe(200);
    expect((await get('application/json', '"1-applicationxml"')).status).toBe(200);
  });

  it('is written over by the tag of any representation, and not by an old one', async () => {
    const { id } = await own.product();
    const patch = (tag: string, stock: number) =>
      admin.patch(`/products/${id}`, inXml({ stock }), { ...XML, 'If-Match': tag });

    const first = await patch('"1"', 7);
    expect([first.status, first.headers.get('etag'), fromXml(first.text).data.stock]).toEqual([
      200,
      '"2-applicationxml"',
      7,
    ]);
    expect((await patch('"1-applicationxml"', 8)).status).toBe(412);
    expect((await patch('"2-applicationxml"', 8)).status).toBe(200);
  });

  it('clears an attribute by null in a PATCH, and leaves out what is not named', async () => {
    const { id } = await own.product({ description: 'Blue', stock: 3 });
    const { text } = await admin.patch(`/products/${id}`, '<product><description type="null"/></product>', XML);
    expect(fromXml(text).data).toMatchObject({ description: null, stock: 3 });
  });

  it('is replayed byte by byte, and is another request than JSON', async () => {
    const key = { 'Idempotency-Key': randomUUID() };
    const body = inXml({ name: 'Once', price: 1 });
    const first = await admin.post('/products', body, { ...XML, ...key });
    const again = await admin.post('/products', body, { ...XML, ...key });

    expect([first.status, first.headers.get('content-type')]).toEqual([201, XML_TYPE]);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    for (const name of ['content-type', 'etag', 'location'])
      expect(again.headers.get(name)).toBe(first.headers.get(name));
    expect(again.text).toBe(first.text);
    expect((await admin.post('/products', { name: 'Once', price: 1 }, key)).status).toBe(422);
  });

  it('is compressed like JSON', async () => {
    const { id } = await own.post({ content: 'x'.repeat(5_000) });
    const response = await fetch(`${api.url}/api/v1/posts/${id}`, {
      headers: { Accept: 'application/xml', 'Accept-Encoding': 'gzip' },
    });
    const text = await response.text();

    expect(response.headers.get('content-encoding')).toBe('gzip');
    expect(fromXml(text).data.content).toBe('x'.repeat(5_000));
  });

  it('answers HEAD with the length of GET', async () => {
    const { id } = await own.product();
    const [head, get] = [await admin.head(`/products/${id}`, XML), await admin.get(`/products/${id}`, XML)];
    expect(head.headers.get('content-length')).toBe(String(Buffer.byteLength(get.text)));
    expect(head.headers.get('etag')).toBe(get.headers.get('etag'));
  });

  it('has the items and links of a page', async () => {
    const [json, xml] = await Promise.all([admin.get('/products?size=3'), admin.get('/products?size=3', XML)]);
    const { timestamp, ...page } = fromXml(xml.text);

    expect({ ...page, timestamp: 0 }).toEqual({ ...json.body, timestamp: 0 });
    expect(timestamp).toEqual(expect.any(Number));
    expect(xml.headers.get('link')).toBe(json.headers.get('link'));
  });

  it('has fields and included rows', async () => {
    const { id } = await own.comment();
    const query = `?fields=content&include=user`;
    const [json, xml] = await Promise.all([
      admin.get(`/comments/${id}${query}`),
      admin.get(`/comments/${id}${query}`, XML),
    ]);
    expect(fromXml(xml.text).data).toEqual(json.body.data);
  });

  it('is taken without types, where JSON is answered', async () => {
    const body = '<product><name>12</name><price>2.50</price><stock>3</stock></product>';
    const { status, body: answer } = await admin.post('/products', body, { 'Content-Type': 'text/xml; charset=utf-8' });
    expect([status, answer.data]).toEqual([201, expect.objectContaining({ name: '12', price: 2.5, stock: 3 })]);
  });

  it('is taken for lists of inputs, whose items need no types', async () => {
    const product = '<item><name>Cup</name><price>2</price></item>';
    const list = `<products type="array">${product.repeat(300)}</products>`;
    // The document tells lists in words.
    const undocumented = new Client(() => api.url, { Authorization: `Bearer ${(await api.admin()).token}` });
    const { status, text } = await undocumented.post('/products', list, XML);
    expect([status, fromXml(text).data.length]).toEqual([201, 300]);
    expect((await undocumented.post('/products', '<products type="array"/>', XML)).status).toBe(400);
  });

  it.each([
    ['application/xml; charset=utf-16', 415],
    ['application/soap+xml', 415],
    ['application/xml-dtd', 415],
    ['application/xml', 400],
  ])('of another type or form is refused: %s, %i', async (type, status) => {
    const answer = await admin.post('/products', '<product>', { 'Content-Type': type });
    expect(answer.status).toBe(status);
    if (status === 415)
      expect(answer.headers.get('accept')).toBe('application/json, application/x-ndjson, application/xml, text/xml');
  });

  it('is told where PATCH tells its media types', async () => {
    const { id } = await own.product();
    const types = 'application/json, application/merge-patch+json, application/xml, text/xml';
    const refused = await admin.patch(`/products/${id}`, 'x', { 'Content-Type': 'text/plain' });
    expect((await admin.options(`/products/${id}`)).headers.get('accept-patch')).toBe(types);
    expect([refused.status, refused.headers.get('accept-patch')]).toEqual([415, types]);
  });

  it('refuses bytes that are no UTF-8', async () => {
    const body = Buffer.concat([Buffer.from('<p><name>'), Buffer.from([0xff]), Buffer.from('</name></p>')]);
    const answer = await admin.post('/products', body, XML);
    expect([answer.status, fromXml(answer.text).error.fields[0].rule]).toEqual([400, 'encoding']);
  });
});

describe('A large page in XML', () => {
  const api = useTestApi();
  const LONG = 50_000;

  beforeAll(async () => {
    const own = new Fixtures(api, await api.user());
    const posts = { plain: 'x', markup: '&' };
    for (const [title, character] of Object.entries(posts)) {
      await Promise.all(times(40, () => own.post({ title, content: character.repeat(LONG) })));
    }
  });

  it('is the same as in JSON', async () => {
    const path = '/posts?search=plain&size=40';
    const [json, xml] = [await api.get(path), await api.get(path, XML)];
    expect(xml.headers.get('content-type')).toBe(XML_TYPE);
    expect({ ...fromXml(xml.text), timestamp: 0 }).toEqual({ ...json.body, timestamp: 0 });
  });

  it('is 400 above the largest answer, and shorter with cursors', async () => {
    const refused = await api.get('/posts?search=markup&size=40', XML);
    expect(fromXml(refused.text).error.fields).toEqual([expect.objectContaining({ field: 'size', rule: 'bytes' })]);
    const { text } = await api.get('//api/v2/posts?search=markup&size=40', XML);
    const { data, pagination } = fromXml(text);
    expect(Buffer.byteLength(text)).toBeLessThan(8 * 2 ** 20);
    expect(data.length).toBeLessThan(40);
    expect(pagination.next).toEqual(expect.any(String));
  });
});
