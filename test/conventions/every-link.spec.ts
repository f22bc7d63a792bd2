import { type Answer, type Client } from '../../src/platform/testing';
import { itForEach, lacks } from '../support/asked';
import { Fixtures } from '../support/fixtures';
import { documentedRoutes, requestOf, sendTo } from '../support/requests';
import { ROUTES_AND_SPECIMENS as ROUTES, useSpecimens } from '../support/specimens';

const DOCUMENT = '/docs/json';
const isPage = ({ body }: Answer) => body?.pagination !== undefined;
/** Links name what is in the address, so a route without a body, or with the bytes of an upload, has none. */
const ASKED = ROUTES.filter((route) => /^(GET|POST|PUT|PATCH) \/api\/v1(?!\/public)/.test(route));
const READS = ASKED.filter((route) => route.startsWith('GET '));

/** The targets of a `Link` header by their relations (RFC 8288). */
function linksOf({ headers }: Answer): Record<string, string> {
  const links = (headers.get('link') ?? '').matchAll(/<([^<>]*)>; rel="([\w-]+)"/g);
  return Object.fromEntries([...links].map(([, target, relation]) => [relation, target]));
}

/** `Link` of every route; the index has relations of its own, see indexes.spec.ts. */
describe('every link', () => {
  const api = useSpecimens();
  let own: Fixtures;
  let admin: Client;

  beforeAll(async () => {
    admin = api.as(await api.admin());
    own = new Fixtures(api, await api.user());
  });

  const ask = async (route: string) => {
    const request = await requestOf(route, own);
    return { request, answer: await sendTo(admin, route, request) };
  };

  it('is documented where one is sent, and sent where one is documented', async () => {
    const documented = documentedRoutes(({ response }) => [200, 201].some((status) => response(status)?.headers?.Link));
    const sent: string[] = [];
    for (const route of ASKED) {
      const { answer } = await ask(route);
      if ('describedby' in linksOf(answer)) sent.push(route);
    }

    lacks([
      ...documented.filter((one) => !sent.includes(one)).map((one) => `${one} documents Link, and sends none`),
      ...sent
        .filter((one) => ROUTES.includes(one) && !documented.includes(one) && !isOfTests(one))
        .map((one) => `${one} sends Link, and doesn’t document it`),
    ]);
  });

  itForEach(ASKED)('leads to what its relation says: %s', async (route) => {
    const { answer } = await ask(route);
    const { self, collection, describedby, ...others } = linksOf(answer);
    if (describedby === undefined) return expect(linksOf(answer)).toEqual({});

    expect([describedby, (await api.get(`/${describedby}`)).status]).toEqual([DOCUMENT, 200]);
    if (isPage(answer)) return expect(Object.keys(others)).toEqual(expect.arrayContaining(['first', 'last']));
    if (self !== undefined && route !== 'GET /api/v1') {
      expect((await admin.get(`/${self}`)).body.data).toEqual(answer.body.data);
    }
    if (collection === undefined) return;
    const { id } = answer.body.data as { id: number };
    const { body } = await admin.get(`/${collection}?ids=${id}`);
    expect(body.data.map((one: { id: number }) => one.id)).toEqual([id]);
  });

  itForEach(READS)('names its own address, with the attributes that were asked for: %s', async (route) => {
    const { request, answer } = await ask(route);
    const { describedby, self } = linksOf(answer);
    if (describedby === undefined || route === 'GET /api/v1') return;
    const places = [...(request.ids ?? [])];
    const path = route.split(' ')[1].replace(/:\w+/g, () => String(places.shift()));
    const [name] = Object.keys((isPage(answer) ? answer.body.data[0] : answer.body.data) ?? { id: 1 });

    expect(self).toBe(path);
    const chosen = await sendTo(admin, route, { ...request, query: `?fields=${name}` });
    expect(linksOf(chosen).self).toBe(`${path}?fields=${name}`);
  });

  const MEMBERS = ASKED.filter((route) => /^(GET|PUT|PATCH) \S+\/:\w+$/.test(route));
  itForEach(MEMBERS.filter((route) => ROUTES.includes(`GET ${route.split(' ')[1].replace(/\/:\w+$/, '')}`)))(
    'names the collection of a member: %s',
    async (route) => {
      const { answer } = await ask(route);
      const { self, collection } = linksOf(answer);
      // Bytes of an upload have no answer.
      if (answer.status === 204) return;

      expect(collection).toBe(self?.replace(/\/[^/]+$/, ''));
      expect(collection).toBeDefined();
    },
  );
});

const isOfTests = (route: string) => /\/(specimens|shelves|slots)/.test(route);
