import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import { type Answer, type Client, expectError } from '../../src/platform/testing';
import { ALL_ARE_ASKED, itForEach, lacks } from '../support/asked';
import { Fixtures } from '../support/fixtures';
import { documentedRoutes, requestOf, ROUTES, sendTo } from '../support/requests';
import { useTestApi } from '../support/test-api';

const tagOf = ({ headers }: Answer) => headers.get('etag');
const ONLY_PLAIN = { 'Accept-Encoding': 'identity' };
const keyed = () => ({ 'Idempotency-Key': randomUUID() });
const isReplayed = ({ headers }: Answer) => headers.get('idempotent-replayed') === 'true';
const missingIn = (list: string[], routes: string[], what: string) =>
  routes.filter((one) => !list.includes(one)).map((one) => `${one} ${what}`);

/** An upload says by headers of its protocol where to go on. What a link opens is no representation. */
const READS_OF_ONE = ROUTES.filter(
  (route) => /^GET .*(\/:\w+|profile)$/.test(route) && !/\/:(?:key|link)$/.test(route),
);
/** What changes one resource: uploads take If-Match too, and their chunks differ from bodies. */
const CHANGES = ROUTES.filter((route) => /^(PUT|PATCH|DELETE) .*\/:/.test(route) && !route.includes('/uploads'));
/** The representations, and the changes: those of uploads too. */
const SHOWN = ROUTES.filter((route) => /^GET .*(\/:(?!link$)\w+|profile)$/.test(route));
const CHANGED = ROUTES.filter((route) => /^(PUT|PATCH|DELETE) .*\/:/.test(route));
const readOf = (route: string) => route.replace(/^\w+ (.*:\w+).*$/, 'GET $1');
/**
 * Without tokens, links and webhooks, which are secrets or have one, and uploads, which are resumed by what their protocol has
 * for that; and what is sent once however often it is asked for.
 */
const POSTS = ROUTES.filter(
  (route) =>
    route.startsWith('POST ') && !/\/auth\/|\/uploads$|\/links$|\/webhooks$|\/secrets$|\/attempts$/.test(route),
);

/** Entity tags and idempotency keys of every route; the finer points are in entity-tags.spec.ts and idempotency.spec.ts. */
describe('every repetition', () => {
  const api = useTestApi();
  let admin: Client;
  let own: Fixtures;

  beforeAll(async () => {
    admin = api.as(await api.admin()).with(ONLY_PLAIN);
    own = new Fixtures(api, await api.user());
  });

  /** The rows of all entities. */
  const count = async () => {
    const { entityMetadatas, manager } = api.app.nest.get(DataSource);
    const tables = entityMetadatas.map(({ tableName }) => tableName).filter((one) => one !== 'idempotency_keys');
    const counts = tables.map((table) => `(SELECT count(*) FROM "${table}")`);
    return (await manager.query<[{ rows: string }]>(`SELECT ${counts.join(' + ')} AS rows`))[0].rows;
  };

  it('is documented with an entity tag where one is read', () => {
    const promised = documentedRoutes(({ method, path, response }) => {
      return method === 'get' && !path.includes('{key}') && response(200)?.headers?.ETag;
    });
    if (ALL_ARE_ASKED) expect(promised).toContain('GET /api/v1/products/:id');
    lacks([
      ...missingIn(
        promised,
        READS_OF_ONE,
        'promises no ETag: write @Answers() on its handler, and run npm run openapi',
      ),
      ...missingIn(READS_OF_ONE, promised, 'promises an ETag, and has no request in test/support/resources/'),
    ]);
  });

  itForEach(READS_OF_ONE)('has an entity tag where it is read whole, and none in a projection: %s', async (route) => {
    const request = await requestOf(route, own);
    expect(tagOf(await sendTo(admin, route, request))).toBe('"1"');
    expect(tagOf(await sendTo(admin, route, { ...request, query: '?fields=id' }))).toBeNull();
  });

  itForEach(SHOWN)(
    'shows its version, which is that of the entity tag, and may be asked for alone: %s',
    async (route) => {
      const request = await requestOf(route, own);
      const answer = await sendTo(admin, route, request);
      expect([answer.body.data.version, tagOf(answer)]).toEqual([expect.any(Number), `"${answer.body.data.version}"`]);
      const { data } = (await sendTo(admin, route, { ...request, query: '?fields=version' })).body;
      expect(data).toEqual({ version: answer.body.data.version });
    },
  );

  itForEach(CHANGED)('takes the version that was shown as If-Match, whatever the view: %s', async (route) => {
    const request = await requestOf(route, new Fixtures(api, await api.user()));
    const read = readOf(route);
    if (!ROUTES.includes(read)) lacks([`${route} changes what nothing shows: there is no ${read}`]);
    const vendor = admin.with({ Accept: 'application/vnd.api+json;version=1' });
    const { version } = (await sendTo(vendor, read, { ids: request.ids })).body.data;

    const write = (client: Client) => sendTo(client, route, request);
    expect((await write(vendor.with({ 'If-Match': `"${version + 1}"` }))).status).toBe(412);
    expect((await write(vendor.with({ 'If-Match': `"${version}"` }))).status).toBeLessThan(300);
  });

  itForEach(READS_OF_ONE)('is not sent again to whom has it, 304: %s', async (route) => {
    const request = await requestOf(route, own);
    for (const known of ['"1"', 'W/"1"', '*', '"7", "1"', '"x","1-gzip"', '"1-br"']) {
      const answer = await sendTo(admin.with({ 'If-None-Match': known }), route, request);
      expect([known, answer.status, answer.text]).toEqual([known, 304, '']);
      expect(tagOf(answer)).toMatch(/^"1(-gzip|-br)?"$/);
      expect(answer.headers.get('content-type')).toBeNull();
      expect(answer.headers.get('vary')).toContain('Accept-Encoding');
    }
    for (const other of ['"2"', '"11"', '1', '', '"1-public"', 'W/"2", "3"']) {
      const answer = await sendTo(admin.with({ 'If-None-Match': other }), route, request);
      expect([other, answer.status]).toEqual([other, 200]);
    }
  });

  itForEach(CHANGES)('is refused where If-Match names another version, 412: %s', async (route) => {
    const request = await requestOf(route, new Fixtures(api, await api.user()));
    const answer = await sendTo(admin.with({ 'If-Match': '"9"' }), route, request);

    if (answer.status < 300) {
      lacks([
        `${route} ignores If-Match: pass \`@IfMatch() expected?: Precondition\` of its handler on to the service`,
      ]);
    }
    expectError(answer, 'PRECONDITION_FAILED');
  });

  it('is documented with a key where it creates something', () => {
    const promised = documentedRoutes(({ spec }) =>
      spec.parameters.some(({ name }: { name: string }) => name === 'Idempotency-Key'),
    );
    if (ALL_ARE_ASKED) expect(promised).toContain('POST /api/v1/products');
    lacks([
      ...missingIn(
        promised,
        POSTS,
        'takes no Idempotency-Key: write @Creates() on its handler, and run npm run openapi',
      ),
      ...missingIn(POSTS, promised, 'takes an Idempotency-Key, and has no request in test/support/resources/'),
    ]);
  });

  itForEach(POSTS)('gives a repetition with its key the first answer: %s', async (route) => {
    const request = await requestOf(route, own);
    const caller = admin.with(keyed());
    const first = await sendTo(caller, route, request);
    const rows = await count();
    const again = await sendTo(caller, route, request);

    expect([first.status, isReplayed(first)]).toEqual([201, false]);
    expect([again.status, isReplayed(again), again.text]).toEqual([201, true, first.text]);
    for (const name of ['location', 'etag', 'content-type', 'cache-control']) {
      expect([name, again.headers.get(name)]).toEqual([name, first.headers.get(name)]);
    }
    expect(await count()).toBe(rows);
  });
});
