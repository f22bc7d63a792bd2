import { randomUUID } from 'node:crypto';
import { AuditTrail } from '../../src/platform/auth/audit-trail';
import { type Answer, type Client, expectError } from '../../src/platform/testing';
import { Fixtures } from '../support/fixtures';
import { ALL_ARE_ASKED, itForEach, lacks } from '../support/asked';
import { Document } from '../support/openapi';
import { pathTextsOf } from '../support/path-parameters';
import { documentedRoutes, requestOf, ROUTES as OF_SERVICE, routesOf, sendTo } from '../support/requests';
import { ROUTES_AND_SPECIMENS as ROUTES, useSpecimens, WRITABLES_AND_SPECIMENS } from '../support/specimens';

/** The protocol of uploads has it so: what HEAD says of where to go on is never to be kept. */
const ONLY_OF_HEAD: Record<string, object> = { 'GET /api/v1/uploads/:key': { 'cache-control': 'no-store' } };
/** What the service sets. A PUT of a resource ignores it. */
const READ_ONLY = ['id', 'created_at', 'updated_at', 'version'];
/** No route takes one of these in a body. */
const NOT_TO_BE_SET = [...READ_ONLY, ...'deleted_at user_id post_id total_amount colour'.split(' ')];
const isIgnored = (route: string, name: string) => /^PUT .*\/:/.test(route) && READ_ONLY.includes(name);

const PATCH_TYPES = 'application/json, application/merge-patch+json, application/xml, text/xml';
/** In the order in which `Allow` names them. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

// Readiness tells how long it took to find out.
const READS = ROUTES.filter((route) => route.startsWith('GET ') && !/docs|ready/.test(route));
const WRITES = ROUTES.filter((route) => /^(POST|PUT|PATCH) /.test(route));
// Uploads are written in bytes and headers.
const IN_JSON = WRITES.filter((route) => !/\/uploads(\/:key)?$/.test(route));
// A token, a link or a secret is answered once, and can't be read again.
const CREATES = WRITES.filter((route) => route.startsWith('POST ') && !/\/auth\/|\/links$|\/secrets$/.test(route));
// A repetition makes nothing new.
const MAKES = CREATES.filter((route) => !route.endsWith('/attempts'));
const DELETES = ROUTES.filter((one) => /^DELETE .*:\w+$/.test(one));
/** Each parameter of each path. What can be done with an upload, OPTIONS says of each, there or not. */
const PARAMETERS = ROUTES.filter((route) => !route.startsWith('OPTIONS ')).flatMap((route) =>
  [...route.matchAll(/:(\w+)/g)].map(([, parameter], place) => [route, parameter, place] as const),
);

interface Field {
  field: string;
}

/** What is true of every route of the application, asked of all of them; the finer points are in the other files. */
describe('every route', () => {
  const api = useSpecimens();
  let own: Fixtures;
  let admin: Client;
  let document: Document;

  beforeAll(async () => {
    admin = api.as(await api.admin());
    own = new Fixtures(api, await api.user());
    document = new Document((await api.get('//docs/json')).body);
  });

  it('is asked: none of the application is missing in test/support/resources', () => {
    const routes = routesOf(api);
    const places = '`requests` of its file in test/support/resources/';

    lacks([
      ...routes.filter((one) => !ROUTES.includes(one)).map((one) => `${one} has no request: add it to ${places}`),
      ...ROUTES.filter((one) => !routes.includes(one)).map(
        (one) => `${one} is no route of the application: add it to the controller, or remove it from ${places}`,
      ),
    ]);
  });

  itForEach(PARAMETERS)(
    'answers 400 for what can’t be its id, UUID, slug or name: %s, %s',
    async (route, parameter, place) => {
      const { wrong } = pathTextsOf(document, route, parameter);
      const answers = await Promise.all(wrong.map(await asking(route, place)));
      const fields = answers.map(({ status, body }) => [status, body.error?.fields?.map((one: Field) => one.field)]);
      expect(fields).toEqual(wrong.map(() => [400, [parameter]]));
    },
  );

  it('takes no more than 16 KiB of a body from anyone', async () => {
    const bodies = OF_SERVICE.filter((route) => /^(POST|PUT|PATCH|DELETE) /.test(route) && !route.includes('/uploads'));
    const open: string[] = [];
    for (const route of bodies) {
      const { ids } = await requestOf(route, own);
      const body = { text: 'a'.repeat(16 * 1_024) };
      const { status } = await sendTo(api, route, { ids, body });
      if (status !== 401) open.push(`${route} ${status}`);
    }

    const ofTokens = ['POST', 'PUT', 'DELETE'].map((method) => `${method} /api/v1/auth/tokens 413`);
    const expected = ['POST /api/v1/users 413', ...ofTokens].filter((one) => bodies.includes(one.replace(/ 413$/, '')));
    expect(open.sort()).toEqual(expected.sort());
  });

  itForEach(PARAMETERS)('answers 404 for an id that nothing has: %s, %s', async (route, parameter, place) => {
    const { free } = pathTextsOf(document, route, parameter);
    const ofUser = parameter === 'userId' || route.includes(' /api/v1/users/:id');
    const code = ofUser ? 'USER_NOT_FOUND' : 'NOT_FOUND';
    const answers = await Promise.all(free.map(await asking(route, place)));
    const codes = answers.map(({ status, body }) => [status, body.error?.code]);
    expect(codes).toEqual(free.map(() => [404, code]));
  });

  itForEach(DELETES)('answers 404 for what was deleted: %s', async (route) => {
    const { ids } = await requestOf(route, new Fixtures(api, await api.user()));
    expect((await sendTo(admin, route, { ids })).status).toBe(204);
    for (const same of ROUTES.filter((one) => isOf(route, one))) {
      const request = await requestOf(same, own);
      expect([same, (await sendTo(admin, same, { ...request, ids })).status]).toEqual([same, 404]);
    }
  });

  itForEach(allowedMethods())(
    'answers 405 to other methods, and OPTIONS, with the methods that there are: %s, %s',
    async (path, methods) => {
      const somewhere = `/${path.replace(/:key/, randomUUID()).replace(/:\w+/g, '1')}`;
      for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND']) {
        if (methods.split(', ').includes(method)) continue;
        const answer = await api.send(method, somewhere);
        expect([method, answer.status, answer.headers.get('allow')]).toEqual([method, 405, methods]);
        if (method !== 'HEAD') expectError(answer, 'METHOD_NOT_ALLOWED');
      }
      const { status, headers } = await api.options(somewhere);
      expect([status, headers.get('allow')]).toEqual([204, methods]);
      const type = path.includes('uploads') ? 'application/offset+octet-stream' : PATCH_TYPES;
      expect(headers.get('accept-patch')).toBe(methods.includes('PATCH') ? type : null);
    },
  );

  itForEach(READS)('answers HEAD like GET, without the body: %s', async (route) => {
    const plain = { 'Accept-Encoding': 'identity' };
    const callers = [admin, api, api.with({ Authorization: 'Bearer x' })].map((client) => client.with(plain));

    const request = await requestOf(route, own);
    // The audit's own list grows by what was refused before.
    await api.app.nest.get(AuditTrail).beforeApplicationShutdown();
    const names = [...route.matchAll(/:(\w+)/g)].map(([, name]) => name);
    const missing = { ids: names.map((name) => pathTextsOf(document, route, name).free[0] ?? 'GONE') };
    for (const [client, one] of [
      ...callers.map((client) => [client, request] as const),
      [callers[0], missing] as const,
    ]) {
      const get = await sendTo(client, route, one);
      const head = await sendTo(client, route.replace('GET', 'HEAD'), one);
      expect([head.status, head.text, steadyHeaders(head)]).toEqual([
        get.status,
        '',
        { ...steadyHeaders(get), ...(get.status === 200 && ONLY_OF_HEAD[route]) },
      ]);
      expect(head.headers.get('content-length')).toBe(String(Buffer.byteLength(get.text)));
    }
  });

  it('is documented with an entity tag where it creates something', () => {
    const promised = documentedRoutes(({ method, response }) => method === 'post' && response(201)?.headers?.ETag);
    if (ALL_ARE_ASKED) expect(CREATES).toContain('POST /api/v1/products');
    lacks([
      ...CREATES.filter((one) => OF_SERVICE.includes(one) && !promised.includes(one)).map(
        (one) => `${one} promises no ETag: write @Creates() on its handler, and run npm run openapi`,
      ),
      ...promised
        .filter((one) => !CREATES.includes(one))
        .map((one) => `${one} has no request in test/support/resources/`),
    ]);
  });

  itForEach(MAKES)('answers 201 with the place of what it created: %s', async (route) => {
    const request = await requestOf(route, own);
    const { status, headers, body } = await sendTo(admin, route, request);
    const noun = route.split('/').at(-1)!;
    // Below its own noun, or, as a child with nested routes only, below the path of the POST.
    const isOwn = ROUTES.some((one) => new RegExp(`^GET /api/v1/${noun}/:\\w+$`).test(one));
    const places = [...(request.ids ?? [])];
    const list = isOwn ? `/api/v1/${noun}` : route.split(' ')[1].replace(/:\w+/g, () => String(places.shift()));
    const place = `${list}/${body.data?.key ?? body.data?.id}`;
    expect([status, headers.get('location')]).toEqual([201, place]);
    const read = await admin.get(`/${place}`);
    if (read.status !== 200)
      lacks([`${route} created ${place}, and GET answers ${read.status}: add the route to its controller`]);
    const once = route.endsWith('/webhooks') ? { secret: body.data.secret } : {};
    expect({ ...read.body.data, ...once }).toEqual(body.data);
    expect(body.data.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(body.data.updated_at).toBe(body.data.created_at);
    expect(Math.abs(Date.now() - Date.parse(body.data.created_at as string))).toBeLessThan(60_000);
  });

  it('takes JSON on most routes that write', () => {
    if (ALL_ARE_ASKED) expect(IN_JSON.length).toBeGreaterThan(15);
  });

  itForEach(IN_JSON)('takes no attribute that is not for the caller to set: %s', async (route) => {
    const request = await requestOf(route, own);
    const send = (name: string) => sendTo(admin, route, { ...request, body: { ...request.body, [name]: 1 } });
    const names = NOT_TO_BE_SET.filter((name) => !attributesOf(route).includes(name) && !isIgnored(route, name));
    const answers = await Promise.all(names.map(send));
    const unknown = (field: string) => [400, [{ field, rule: 'unknown', message: expect.any(String) }]];
    const found = answers.map(({ status, body }) => [status, body.error?.fields]);
    expect(found).toEqual(names.map(unknown));
  });

  itForEach(IN_JSON)('takes JSON, a merge patch where it is a PATCH, and nothing else: %s', async (route) => {
    const send = async (type: string) => {
      const request = await requestOf(route, new Fixtures(api, await api.user()));
      return (await sendTo(admin.with({ 'Content-Type': type }), route, request)).status;
    };
    const success = route.startsWith('POST') ? 201 : 200;
    const patch = route.startsWith('PATCH') ? 200 : 415;
    expect(await send('application/json; charset=utf-8')).toBe(success);
    expect(await send('application/merge-patch+json')).toBe(patch);
    expect(await send('text/plain')).toBe(415);
    const untyped = await sendTo(admin.with({ 'Content-Type': '' }), route, await requestOf(route, own));
    const [name, value] = route.startsWith('PATCH')
      ? ['accept-patch', PATCH_TYPES]
      : ['accept', 'application/json, application/xml, text/xml'];
    // A route that creates many takes lists in lines too.
    const types = untyped.headers.get(name)?.replace(', application/x-ndjson', '');
    expect([untyped.status, types]).toEqual([415, value]);
  });

  // What a link opens is no resource.
  itForEach(READS.filter((one) => /:(?!link$)\w+$/.test(one)))(
    'shows of a single resource the attributes asked for, and takes no parameter of a collection: %s',
    async (route) => {
      const { ids } = await requestOf(route, own);
      const { data } = (await sendTo(admin, route, { ids })).body;
      for (const name of Object.keys(data as object)) {
        const answer = await sendTo(admin, route, { ids, query: `?fields=${name}` });
        expect(answer.body.data).toEqual({ [name]: data[name] });
      }
      for (const wrong of ['?page=0', '?sort=id', '?search=a', '?status=PAID', '?fields=id,deleted_at', '?fields=']) {
        expect([wrong, (await sendTo(admin, route, { ids, query: wrong })).status]).toEqual([wrong, 400]);
      }
    },
  );

  /** A way to ask with any value of a parameter of the path, all else being right. */
  async function asking(route: string, place: number) {
    const { ids = [], ...rest } = await requestOf(route, own);
    return (value: string) => sendTo(admin, route, { ...rest, ids: ids.with(place, value) });
  }
});

/** What the requests of these tests are made with, by path: HEAD where there is a GET, and OPTIONS everywhere. */
function allowedMethods(): [path: string, methods: string][] {
  const byPath = new Map<string, Set<string>>();
  for (const [method, path] of ROUTES.map((route) => route.split(' '))) {
    // Not /users/profile: a user with the id `profile` would be there too, so that other methods are a 400.
    if (/docs|profile/.test(path)) continue;
    const methods = byPath.get(path) ?? new Set(['OPTIONS']);
    byPath.set(path, methods.add(method).add(method === 'GET' ? 'HEAD' : method));
  }
  return [...byPath].map(([path, methods]) => [path, METHODS.filter((method) => methods.has(method)).join(', ')]);
}

/** At the path of a route that deletes, or below it where everything goes with it. */
function isOf(deletion: string, other: string): boolean {
  const [method, path] = other.split(' ');
  return method !== 'OPTIONS' && [deletion, `${deletion}/content`].some((one) => one.split(' ')[1] === path);
}

/** Those that neither name the request nor belong to the connection. */
function steadyHeaders({ headers }: Answer): object {
  const others = /^(date|x-request-id|ratelimit|connection|keep-alive)$/;
  return Object.fromEntries([...headers].filter(([name]) => !others.test(name)));
}

/** What a caller may write of the resource of a route. */
function attributesOf(route: string): string[] {
  const noun = route.split('/').findLast((part) => !part.startsWith(':'));
  return Object.keys(WRITABLES_AND_SPECIMENS.find((one) => one.noun === noun)?.attributes ?? {});
}
