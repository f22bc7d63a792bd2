import { toXml } from '../../src/platform/http/xml';
import { type Answer, type Client, expectErrorHeaders } from '../../src/platform/testing';
import { itForEach } from '../support/asked';
import { Fixtures } from '../support/fixtures';
import { documentedRoutes, requestOf, sendTo } from '../support/requests';
import { useTestApi } from '../support/test-api';
import { fromXml, shapeOf, XML, XML_TYPE } from '../support/xml';

const PROBLEM_TYPE = 'application/problem+json';
/** A client of problem details alone gets 406 for each success, whatever its request is. */
const PROBLEM = { Accept: `application/json, ${PROBLEM_TYPE}` };
const BAD_TOKEN = { Authorization: 'Bearer nonsense' };
const isApi = (route: string) => route.includes(' /api/');
const answersJson = (node?: { content?: object }) => node?.content !== undefined && 'application/json' in node.content;

/** Routes whose success is JSON, and those that refuse a bad token, which is an error of every other route of the API. */
const IN_JSON = documentedRoutes(({ response }) => answersJson(response(200)) || answersJson(response(201))).filter(
  isApi,
);
const IDENTIFYING = documentedRoutes(({ response }) => response(401)).filter(isApi);
const VERSIONS = ['v1', 'v2'];

describe('Every route of the API', () => {
  const api = useTestApi();
  let own: Fixtures;
  let admin: Client;

  beforeAll(async () => {
    own = new Fixtures(api, await api.user());
    admin = api.as(await api.admin());
  });

  const inVersion = (route: string, version: string) => route.replace('/api/v1', version && `/api/${version}`);

  /** @param isWhole false for a request without its body */
  async function send(client: Client, route: string, version: string, accept: string, isWhole = true): Promise<Answer> {
    const { body, headers, ...request } = await requestOf(route, own);
    const inXml = accept === XML.Accept && body && !Buffer.isBuffer(body);
    return sendTo(client, inVersion(route, version), {
      ...request,
      body: isWhole ? (inXml ? Buffer.from(toXml(JSON.stringify(body))) : body) : undefined,
      headers: { Accept: accept, ...(inXml && isWhole && XML), ...headers },
    });
  }

  itForEach(IN_JSON)('takes and answers XML as it does JSON: %s', async (route) => {
    for (const version of VERSIONS) {
      const json = await send(admin, route, version, 'application/json');
      const xml = await send(admin, route, version, XML.Accept);

      expect([xml.status, xml.headers.get('content-type')]).toEqual([json.status, XML_TYPE]);
      expect(shapeOf(fromXml(xml.text))).toEqual(shapeOf(json.body));
    }
  });

  itForEach(IDENTIFYING)('answers errors as XML, and as problem details: %s', async (route) => {
    const bad = api.with(BAD_TOKEN);
    for (const version of VERSIONS) {
      const envelope = await send(bad, route, version, 'application/json', false);
      const xml = await send(bad, route, version, XML.Accept, false);
      const problem = await send(bad, route, version, PROBLEM.Accept, false);

      expect([xml.status, xml.headers.get('content-type')]).toEqual([envelope.status, XML_TYPE]);
      expect(shapeOf(fromXml(xml.text))).toEqual(shapeOf(envelope.body));
      expect([problem.status, problem.headers.get('content-type')]).toEqual([envelope.status, PROBLEM_TYPE]);
      expect(problem.body).toMatchObject({ status: envelope.status, code: envelope.body.error.code });
      for (const answer of [xml, problem]) expect(answer.headers.get('cache-control')).toBe('no-store');
    }
  });
});

/** Errors of everything that can raise one, as a request line and headers. */
const ERRORS: [from: string, status: number, code: string, method: string, path: string, body?: string][] = [
  ['an unknown path of the API', 404, 'NOT_FOUND', 'GET', '//api/v1/nothing'],
  ['an unknown path without a version', 404, 'NOT_FOUND', 'GET', '//api/nothing'],
  ['an unknown path', 404, 'NOT_FOUND', 'GET', '//nothing'],
  ['an unknown version', 404, 'NOT_FOUND', 'GET', '//api/v9/products'],
  ['an unknown row', 404, 'NOT_FOUND', 'GET', '/products/999999999'],
  ['the router', 405, 'METHOD_NOT_ALLOWED', 'PATCH', '/products'],
  ['malformed percent-encoding', 400, 'VALIDATION_ERROR', 'GET', '/products/%zz'],
  ['a path parameter', 400, 'VALIDATION_ERROR', 'GET', '/products/x'],
  ['a query parameter', 400, 'VALIDATION_ERROR', 'GET', '/products?size=x'],
  ['a guard', 401, 'UNAUTHORIZED', 'GET', '/orders'],
  ['the parser of bodies', 400, 'VALIDATION_ERROR', 'POST', '/auth/tokens', '{'],
  ['a rule', 400, 'VALIDATION_ERROR', 'POST', '/auth/tokens', '{}'],
  ['the limit of bodies', 413, 'PAYLOAD_TOO_LARGE', 'POST', '/auth/tokens', `{"a":"${'x'.repeat(20_000)}"}`],
];

/** With as many items as a test has parameters: Jest would pass a callback for a missing one. */
const EACH_ERROR = ERRORS.map(
  ([from, status, code, method, path, body]) => [from, status, code, method, path, body] as const,
);

describe('An error', () => {
  const api = useTestApi();

  it.each(EACH_ERROR)('of %s is %i in XML, if that is accepted', async (_from, status, code, method, path, body) => {
    const answer = await api.send(method, path, body, { Accept: 'application/xml' });

    expect([answer.status, answer.headers.get('content-type')]).toEqual([status, XML_TYPE]);
    expect(fromXml(answer.text).error).toMatchObject({ code, details: expect.any(String) });
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  it.each(EACH_ERROR)(
    'of %s is %i as problem details, if they are',
    async (_from, status, code, method, path, body) => {
      const { headers, ...answer } = await api.send(method, path, body, PROBLEM);

      expect([answer.status, headers.get('content-type')]).toEqual([status, PROBLEM_TYPE]);
      expect(answer.body).toEqual({
        type: 'about:blank',
        title: expect.stringMatching(/^[A-Z]/),
        status,
        detail: expect.any(String),
        instance: `urn:uuid:${headers.get('x-request-id')}`,
        code,
        timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
        ...(code === 'VALIDATION_ERROR' && { fields: expect.any(Array) }),
      });
    },
  );

  it.each([
    ['application/json, application/problem+json', PROBLEM_TYPE],
    ['application/problem+json, application/json', PROBLEM_TYPE],
    ['application/problem+json, */*', PROBLEM_TYPE],
    ['application/problem+json;q=0.5, text/html', PROBLEM_TYPE],
    ['application/vnd.api+json;version=1, application/problem+json', PROBLEM_TYPE],
    ['application/xml, Application/Problem+JSON', PROBLEM_TYPE],
    ['application/json, application/problem+json;q=0.9', 'application/json; charset=utf-8'],
    ['application/xml, application/problem+json;q=0.9', XML_TYPE],
    ['*/*, application/problem+json;q=0', 'application/json; charset=utf-8'],
    ['application/*', 'application/json; charset=utf-8'],
    ['application/problem+xml, */*', 'application/json; charset=utf-8'],
    ['text/html, application/xml;q=0.9, */*;q=0.8', 'application/json; charset=utf-8'],
    ['text/xml', 'text/xml; charset=utf-8'],
    ['text/html, application/xml', XML_TYPE],
    ['text/html, application/json;q=0.1, application/xml', 'application/json; charset=utf-8'],
  ])('is negotiated by weight: %j gets %s', async (Accept, type) => {
    expect((await api.get('/products/999999999', { Accept })).headers.get('content-type')).toBe(type);
  });

  it('is 406 in the form that the caller accepts', async () => {
    const { status, body } = await api.get('/products', { Accept: PROBLEM_TYPE });
    expect([status, body.code, body.detail]).toEqual([
      406,
      'NOT_ACCEPTABLE',
      expect.stringContaining('application/xml'),
    ]);
  });

  it('has no instance where the caller chose an id that is no UUID', async () => {
    const { body } = await api.get('//nothing', { ...PROBLEM, 'X-Request-Id': 'my-own.id' });
    expect(body).not.toHaveProperty('instance');
  });

  it('has the same length for HEAD', async () => {
    for (const Accept of ['application/xml', PROBLEM.Accept]) {
      const headers = { Accept, 'X-Request-Id': 'x' };
      const [head, get] = [await api.head('/products/x', headers), await api.get('/products/x', headers)];
      expectErrorHeaders({
        ...head,
        headers: { ...Object.fromEntries(head.headers), 'content-type': 'application/json; charset=utf-8' },
      });
      expect([head.status, head.text, head.headers.get('content-length')]).toEqual([
        400,
        '',
        String(Buffer.byteLength(get.text)),
      ]);
    }
  });

  it('is JSON for an Accept that is too long to be read', async () => {
    const answer = await api.get('/products', { Accept: `application/xml, ${'x'.repeat(3_000)}` });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([400, 'application/json; charset=utf-8']);
  });
});
