import { expectError } from '../../src/platform/testing';
import { useTestApi } from '../support/test-api';
import { ValuesModule, oddities, values } from '../support/modules/returned-values';

describe('What a handler returns', () => {
  const api = useTestApi({ imports: [ValuesModule] });
  const path = (name: string) => `/values/${encodeURIComponent(name)}`;

  it.each(Object.entries(values))('is in the envelope: %s', async (name, [, data]) => {
    const get = await api.get(path(name));
    const post = await api.post(path(name), undefined, { 'Idempotency-Key': name });
    const again = await api.post(path(name), undefined, { 'Idempotency-Key': name });

    expect([get.status, get.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
    expect(get.body).toEqual({ code: 200, message: 'OK', data, timestamp: expect.any(Number) });
    expect(post.body).toEqual({ code: 201, message: 'Created', data, timestamp: expect.any(Number) });
    expect([again.status, again.text]).toEqual([201, post.text]);
  });

  it.each(Object.entries(oddities))('is a 500 that says what to return, if it is %s', async (name, [, way]) => {
    const answer = await api.get(`/values/odd/${encodeURIComponent(name)}`);

    expectError(answer, 'INTERNAL_ERROR');
    const { err } = api.app.log.filter((line) => line.msg === 'An internal error occurred').at(-1) as {
      err: { message: string };
    };
    expect(err.message).toContain("GET /api/values/odd/:name can't be answered: its handler returned");
    expect(err.message).toContain(way);
  });

  it('is the text itself, as text that no browser takes for a page', async () => {
    for (const [route, text] of [
      ['text', '<b>text</b>'],
      ['empty-text', ''],
    ]) {
      const { headers, text: received } = await api.get(`/values/${route}`);
      expect([received, headers.get('content-type')]).toEqual([text, 'text/plain; charset=utf-8']);
    }
    const key = { 'Idempotency-Key': 'text' };
    const [first, again] = [await api.post('/values/x', undefined, key), await api.post('/values/x', undefined, key)];
    expect([first, again].map(({ text, headers }) => [text, headers.get('content-type')])).toEqual(
      Array(2).fill(['a text', 'text/plain; charset=utf-8']),
    );
  });

  it('is a text of the type that its route says, with the policy that its route says', async () => {
    const { headers, text } = await api.get('/values/typed');

    expect([text, headers.get('content-type')]).toEqual(['<b>page</b>', 'text/html; charset=utf-8']);
    expect(headers.get('content-security-policy')).toBe("default-src 'self'");
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });

  it('is no body at all if it is nothing, with the status of the route', async () => {
    const get = await api.get('/values/nothing');
    const key = { 'Idempotency-Key': 'nothing' };
    const post = await api.post('/values/nothing', undefined, key);
    const again = await api.post('/values/nothing', undefined, key);

    expect([get, post, again].map(({ status, text }) => [status, text])).toEqual([
      [200, ''],
      [201, ''],
      [201, ''],
    ]);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(get.headers.has('content-type')).toBe(false);
  });

  it.each(['status/204', 'status/304', 'text-with/204', 'text-with/304'])(
    'is no body with such a status, whatever it is: %s',
    async (route) => {
      const answer = await api.get(`/values/${route}`);

      expect([answer.status, answer.text]).toEqual([Number(route.slice(-3)), '']);
      expect(['content-type', 'content-length'].filter((name) => answer.headers.has(name))).toEqual([]);
    },
  );

  it('is sent line by line if it is an async generator', async () => {
    const response = await fetch(`${api.url}/api/v1/values/lines`);

    expect([await response.text(), response.headers.get('content-type')]).toEqual([
      '{"line":1}\n{"line":2}\n',
      'application/x-ndjson',
    ]);
  });

  it('is an own form, a file, an event, a redirect, or what the handler sends itself', async () => {
    expect((await api.get('/values/verbatim')).body).toEqual({ own: 'form' });
    const file = await api.get('/values/file');
    expect([file.text, file.headers.get('content-disposition')]).toEqual(['abc', 'attachment; filename="a.txt"']);
    expect((await api.get('/values/events')).text).toContain('data: {"hello":"world"}');
    const moved = await api.get('/values/moved');
    expect([moved.status, moved.headers.get('location')]).toEqual([301, '/api/v1/products']);
    const byHand = await api.get('/values/by-hand');
    expect([byHand.status, byHand.text]).toEqual([202, '{"html":"\\u003cb\\u003e"}']);
    const passed = await api.get('/values/passed-through');
    expect([passed.status, passed.body.data]).toEqual([203, { a: 1 }]);
    expect([passed.headers.get('set-cookie'), passed.headers.get('x-own')]).toEqual([
      'a=b; Path=/; HttpOnly',
      'header',
    ]);
  });

  it.each([
    [undefined, 'json'],
    ['*/*', 'json'],
    ['application/json', 'json'],
    ['application/vnd.api+json;version=1', 'json'],
    ['text/csv', 'csv'],
    ['text/csv, application/json;q=0.5', 'csv'],
    ['application/json, text/csv;q=0.5', 'json'],
    ['image/png', undefined],
  ])('is in the one of several media types that Accept prefers: %s', async (accept, kind) => {
    const answer = await api.get('/values/either', { Accept: accept ?? '*/*' });

    if (!kind) expect(expectError(answer, 'NOT_ACCEPTABLE').details).toContain('application/json, text/csv');
    else if (kind === 'json') expect(answer.body.data).toEqual([{ a: 1, b: 2 }]);
    else expect([answer.text, answer.headers.get('content-type')]).toEqual(['a,b\n1,2\n', 'text/csv; charset=utf-8']);
    expect(answer.headers.get('vary')).toContain('Accept');
  });
});

describe('Without @Produces(), Accept', () => {
  const api = useTestApi({ imports: [ValuesModule] });

  it.each([
    ['events', 'text/event-stream', 'text/event-stream', 'data: {"hello":"world"}'],
    ['formatted', 'text/html', 'text/html; charset=utf-8', '<p>hey</p>'],
    ['formatted', 'text/plain', 'text/plain; charset=utf-8', 'hey'],
    ['csv', 'text/csv', 'text/csv; charset=utf-8', 'a,b\n'],
    ['csv', 'application/json', 'text/csv; charset=utf-8', 'a,b\n'],
  ])('may name what Nest says of the route: %s, %s', async (path, Accept, type, text) => {
    for (const root of ['/', '//api/']) {
      const answer = await api.get(`${root}values/${path}`, { Accept });

      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, type]);
      expect(answer.text).toContain(text);
    }
  });

  it.each([
    ['events', 'image/png', 'text/event-stream'],
    ['csv', 'text/event-stream', 'text/csv'],
    ['text', 'text/event-stream', 'application/json'],
    ['passed-through', 'text/csv', 'application/json'],
  ])('is 406 for other media types: %s, %s', async (path, Accept, details) => {
    expect(expectError(await api.get(`/values/${path}`, { Accept }), 'NOT_ACCEPTABLE').details).toContain(details);
  });
});

describe('Location', () => {
  const api = useTestApi({ imports: [ValuesModule] });

  it.each([
    ['pay', undefined, 201],
    ['things/7/approve', undefined, 201],
    ['things/import', undefined, 201],
    ['things/7/copies', undefined, 200],
    ['wrapped', undefined, 201],
  ])('is not there where nothing was created that could be read: POST /%s', async (path, body, status) => {
    const answer = await api.post(`/${path}`, body);

    expect(answer.status).toBe(status);
    expect(answer.headers.has('location')).toBe(false);
  });

  it.each([
    ['things', 7, '/api/v1/things/7'],
    ['things', 'a b/c', '/api/v1/things/a%20b%2Fc'],
    ['things/7/parts', 5, '/api/v1/things/7/parts/5'],
  ])('leads to what POST /%s has created with the id %s', async (path, id, place) => {
    const answer = await api.post(`/${path}`, path === 'things' ? { id } : undefined);

    expect(answer.headers.get('location')).toBe(place);
    expect((await api.get(`/${place}`)).body.data).toEqual({ id: String(id) });
    const unversioned = await api.post(`//api/${path}`, path === 'things' ? { id } : undefined);
    expect(unversioned.headers.get('location')).toBe(place.replace('/v1', ''));
  });
});
