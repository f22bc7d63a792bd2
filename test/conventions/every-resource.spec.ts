import { DataSource } from 'typeorm';
import { Belongings, insert, type Row } from '../support/belongings';
import { aPost, aProduct, anOrderOf } from '../support/builders';
import { expectError } from '../support/expectations';
import { aNewUser, requests, routesOf, sendTo } from '../support/requests';
import { COLLECTIONS, ORDER_STATUS, QUANTITY, type Values, type Writable, WRITABLES } from '../support/resources';
import { type Answer, type Client, times, useTestApi } from '../support/test-api';

type Item = Record<string, never> & { id: number };

const TEXTS = [
  'pear',
  'Apple pie',
  'apple tart',
  'snakeXcase',
  'snake_case',
  '100 per cent',
  '100% sure',
  'back\\slash',
  'Crème brûlée',
];
const SEARCHES = ['APPLE', 'snake_case', '%', '_', '\\', 'CRÈME', 'e', "'", ' pie '];

const WRONG_LISTS: [query: string, field: string, rule: string][] = [
  ['page=-1', 'page', 'range'],
  ['page=1.5', 'page', 'range'],
  ['page=2147483648', 'page', 'range'],
  ['size=0', 'size', 'range'],
  ['size=101', 'size', 'range'],
  ['limit=101', 'limit', 'range'],
  ['size=2&limit=3', 'limit', 'twin'],
  ['sort=version', 'sort', 'enum'],
  ['sort=', 'sort', 'enum'],
  ['sortBy=deleted_at', 'sortBy', 'enum'],
  ['sort=id&sortBy=created_at', 'sortBy', 'twin'],
  ['order=up', 'order', 'enum'],
  ['search=', 'search', 'length'],
  ['search=%20', 'search', 'length'],
  [`search=${'x'.repeat(101)}`, 'search', 'length'],
  ['search=a%00', 'search', 'characters'],
  ['fields=', 'fields', 'enum'],
  ['fields=id,version', 'fields', 'enum'],
  ['colour=red', 'colour', 'unknown'],
  ['cursor=x', 'cursor', 'unknown'],
  ['page=0&page=0', 'page', 'once'],
];
const BAD_IDS = '0 -1 01 1e3 1%00 9223372036854775808'.split(' ');
const FREE_IDS = '999999999 9007199254740993 9223372036854775807'.split(' ');
/** No route takes one of these in a body. */
const NOT_TO_BE_SET = 'id created_at updated_at version deleted_at user_id post_id total_amount colour'.split(' ');

/** Not /users/profile: a user with the id `profile` would be there too, so that other methods are a 400. */
const ALLOWED_METHODS = `
  /health/live                         GET, HEAD, OPTIONS
  /health/ready                        GET, HEAD, OPTIONS
  /.well-known/jwks.json               GET, HEAD, OPTIONS
  /api/v1/public                       GET, HEAD, OPTIONS
  /api/v1/auth/tokens                  POST, PUT, DELETE, OPTIONS
  /api/v1/users                        GET, HEAD, POST, OPTIONS
  /api/v1/users/:id                    GET, HEAD, PUT, PATCH, DELETE, OPTIONS
  /api/v1/users/:userId/posts          GET, HEAD, POST, OPTIONS
  /api/v1/users/:userId/posts/:postId  GET, HEAD, OPTIONS
  /api/v1/products                     GET, HEAD, POST, OPTIONS
  /api/v1/products/:id                 GET, HEAD, PUT, PATCH, DELETE, OPTIONS
  /api/v1/orders                       GET, HEAD, POST, OPTIONS
  /api/v1/orders/:id                   GET, HEAD, OPTIONS
  /api/v1/orders/:id/status            PATCH, OPTIONS
  /api/v1/posts                        GET, HEAD, POST, OPTIONS
  /api/v1/posts/:id                    GET, HEAD, PUT, PATCH, DELETE, OPTIONS
  /api/v1/posts/:id/comments           GET, HEAD, POST, OPTIONS
  /api/v1/comments/:id                 GET, HEAD, PATCH, DELETE, OPTIONS
  /api/v1/replies                      GET, HEAD, POST, OPTIONS
  /api/v1/replies/:id                  GET, HEAD, PATCH, DELETE, OPTIONS
`;

/** What is true of every resource, asked of all of them; the finer points are in the other files. */
describe('every resource', () => {
  const api = useTestApi();
  let own: Belongings;
  let admin: Client;

  beforeAll(async () => {
    admin = api.as(await api.admin());
    own = new Belongings(api, await api.user());
  });

  const query = (text: string, values: unknown[] = []) => api.app.nest.get(DataSource).query<Row[]>(text, values);

  describe('as a collection:', () => {
    const paths = Object.fromEntries(COLLECTIONS.map(({ name }) => [name, name]));
    /** Which rows belong to a collection. */
    const scopes: Record<string, string> = {};

    beforeAll(async () => {
      const others = new Belongings(api, await api.user());
      const posts: Row[] = [];
      const comments: Row[] = [];
      for (const [index, text] of TEXTS.entries()) {
        // Each value stands in several rows, so that only the id can tell those apart.
        const dates = { created_at: `2020-01-0${1 + (index % 4)}`, updated_at: `2020-02-0${1 + (index % 3)}` };
        const even = index % 2 === 0;
        const names = { username: `list${index}`, username_key: `list${index}`, name: even ? text : null };
        const email = { email: `${index}@list.example.com`, email_key: `${index}@list.example.com` };
        await insert(api, 'users', { ...names, ...email, status: even ? 'ACTIVE' : 'SUSPENDED', ...dates });
        const stock = { price: 9.95 * (index % 3), stock: index % 4, status: even ? 'ACTIVE' : 'DISCONTINUED' };
        const product = await own.product({ name: text, description: even ? null : 'Wood', ...stock, ...dates });
        const status = ['PENDING', 'PAID', 'SHIPPED', 'DELIVERED', 'CANCELLED'][index % 5];
        await (even ? own : others).order({ status, total_amount: index % 3, ...dates }, product);
        posts.push(await own.post({ title: text, status: even ? 'PUBLISHED' : 'DRAFT', ...dates }));
        await others.post({ content: text, ...dates });
        comments.push(await own.comment({ content: text, ...dates }, posts[0]));
        await others.comment({ content: text, ...dates }, posts[1]);
        await (even ? own : others).reply({ content: text, ...dates }, comments[index % 2]);
      }
      paths['/users/{id}/posts'] = `/users/${own.owner.id}/posts`;
      scopes['/users/{id}/posts'] = `WHERE user_id = ${own.owner.id}`;
      paths['/posts/{id}/comments'] = `/posts/${posts[0].id}/comments`;
      scopes['/posts/{id}/comments'] = `WHERE post_id = ${posts[0].id}`;
    });

    describe.each(COLLECTIONS)('$name', ({ name, table, attributes, sortable, statuses, textsOf, parents }) => {
      const list = (parameters = '') => admin.get(`${paths[name]}${parameters}`);
      const idsOf = ({ body }: Answer) => body.data.map(({ id }: Item) => id) as number[];
      const all = async () => (await list('?size=100')).body.data as Item[];
      /** As the database sorts them. */
      const sorted = async (sort: string, order: string) => {
        const rows = await query(
          `SELECT id FROM ${table} ${scopes[name] ?? ''} ORDER BY ${sort} ${order}, id ${order}`,
        );
        return rows.map(({ id }) => id);
      };

      it('answers a page of whole items, and how many there are', async () => {
        const ids = await sorted('id', 'asc');
        const answer = await list();

        const pagination = { page: 0, size: 20, total: ids.length, totalPages: Math.ceil(ids.length / 20) };
        expect(answer).toMatchObject({ status: 200, body: { pagination } });
        expect(idsOf(answer)).toEqual(ids.slice(0, 20));
        expect(ids.length).toBeGreaterThanOrEqual(TEXTS.length);
        for (const item of answer.body.data) expect(Object.keys(item as object)).toEqual(attributes);
      });

      it.each(sortable)('is sorted by %s, in pages that neither overlap nor skip', async (sort) => {
        for (const order of ['asc', 'desc']) {
          const ids = await sorted(sort, order);
          const page = (number: number) => list(`?sort=${sort}&order=${order}&size=4&page=${number}`);
          const pages = await Promise.all(times(Math.ceil(ids.length / 4), page));
          expect(pages.flatMap(idsOf)).toEqual(ids);
          expect(pages.map(({ body }) => body.pagination.total)).toEqual(pages.map(() => ids.length));
          expect(idsOf(await list(`?sortBy=${sort}&order=${order}&limit=100`))).toEqual(ids);
        }
      });

      it('is sorted by id, and upwards, where nothing else is said', async () => {
        expect(idsOf(await list('?limit=100'))).toEqual(await sorted('id', 'asc'));
        expect(idsOf(await list('?limit=100&order=desc'))).toEqual(await sorted('id', 'desc'));
        expect(idsOf(await list('?limit=100&sort=updated_at'))).toEqual(await sorted('updated_at', 'asc'));
      });

      it('answers an empty page past the end', async () => {
        const { length: total } = await sorted('id', 'asc');

        for (const page of [Math.ceil(total / 4), 2 ** 31 - 1]) {
          const pagination = { page, size: 4, total, totalPages: Math.ceil(total / 4) };
          expect(await list(`?size=4&page=${page}`)).toMatchObject({ status: 200, body: { data: [], pagination } });
        }
      });

      it('finds text in any case, and counts what it finds', async () => {
        const items = await all();
        const totals: Record<string, number> = {};
        await atOnce(SEARCHES, async (search) => {
          const found = items.filter((item) => textsOf(item).some((text) => contains(text, search)));
          const parameter = `?search=${encodeURIComponent(search)}`;
          expect([search, idsOf(await list(`${parameter}&size=100`))]).toEqual([search, found.map(({ id }) => id)]);
          const { data, pagination } = (await list(`${parameter}&size=2&page=1&sort=created_at`)).body;
          expect(pagination).toMatchObject({ total: found.length, totalPages: Math.ceil(found.length / 2) });
          expect(data).toHaveLength(Math.min(2, Math.max(0, found.length - 2)));
          totals[search] = found.length;
        });
        // An oracle that finds nothing, or everything, would prove nothing.
        expect([totals['%'], totals._, totals['CRÈME']]).toEqual(name === '/posts' ? [2, 2, 2] : [1, 1, 1]);
      });

      if (statuses.length === 0) {
        it('has no status to be filtered by', async () => {
          expectError(await list('?status=ACTIVE'), 'VALIDATION_ERROR', { fields: { status: 'unknown' } });
        });
      } else {
        it.each(statuses)('is filtered by the status %s, alone and with all else', async (status) => {
          const items = (await all()).filter((item) => item.status === status);
          const both = items.filter((item) => textsOf(item).some((text) => contains(text, 'apple')));
          const ids = items.map(({ id }) => id);

          expect(ids.length).toBeGreaterThan(0);
          expect(idsOf(await list(`?status=${status}&size=100`))).toEqual(ids);
          const apples = both.map(({ id }) => id).reverse();
          expect(idsOf(await list(`?status=${status}&search=apple&order=desc`))).toEqual(apples);
          const { data, pagination } = (await list(`?status=${status}&size=1&page=1&fields=id`)).body;
          expect(data).toEqual(ids.slice(1, 2).map((id) => ({ id })));
          expect(pagination.total).toBe(ids.length);
        });
      }

      it('shows the attributes asked for, each alone, two of them, or all, in its own order', async () => {
        const items = await all();
        const last = attributes.at(-1)!;
        await atOnce(attributes, async (name) => {
          expect((await list(`?fields=${name}&size=100`)).body.data).toEqual(items.map((item) => only(item, [name])));
          const two = (await list(`?fields=${last},${name}&size=100`)).body.data as Item[];
          expect(two.map((item) => Object.entries(item))).toEqual(
            items.map((item) => Object.entries(only(item, name === last ? [last] : [name, last]))),
          );
        });
        expect((await list(`?fields=${[...attributes].reverse().join()}&size=100`)).body.data).toEqual(items);
      });

      it('links to its other pages, and every link leads there', async () => {
        const ids = await sorted('id', 'desc');
        const pages = { first: 0, prev: 0, next: 2, last: Math.ceil(ids.length / 3) - 1 };
        const links = linksOf(await list('?size=3&page=1&order=desc'));

        expect(Object.keys(links)).toEqual(Object.keys(pages));
        for (const [relation, page] of Object.entries(pages)) {
          const answer = await admin.get(`/${links[relation]}`);
          expect(answer.body.pagination.page).toBe(page);
          expect(idsOf(answer)).toEqual(ids.slice(page * 3, page * 3 + 3));
        }
      });

      it('refuses what it does not know', async () => {
        const unsortable = attributes.filter((name) => !sortable.includes(name));
        const wrong = [
          ...WRONG_LISTS,
          ...unsortable.map((name) => [`sort=${name}`, 'sort', 'enum']),
          ...(statuses.length > 0 ? ['GONE', '', statuses[0].toLowerCase()] : []).map((value) => [
            `status=${value}`,
            'status',
            'enum',
          ]),
        ];
        await atOnce(wrong, async ([parameters, field, rule]) =>
          expectError(await list(`?${parameters}`), 'VALIDATION_ERROR', { fields: { [field]: rule } }),
        );
      });

      it('reads a page in two statements, and no column that nobody asked for', async () => {
        const status = statuses.length > 0 ? `&status=${statuses[0]}` : '';
        const full = await statementsOf(() => list(`?search=e&sort=updated_at&size=2&page=1${status}`));

        // The parent, where there is one, is looked for besides.
        expect(full).toHaveLength(2 + parents);
        for (const name of attributes.filter((one) => one !== 'items')) {
          const [rows] = (await statementsOf(() => list(`?fields=${name}`)))
            .slice(parents)
            .filter((text) => !text.includes('count('));
          const columns = [...new Set(['id', name])].map((one) => `"resource"."${one}" AS "resource_${one}"`);
          expect(rows.split(' FROM ')[0]).toBe(`SELECT ${columns.join(', ')}`);
        }
      });
    });

    /** The SQL of a request, without the look-up of who asks. */
    async function statementsOf(request: () => Promise<Answer>): Promise<string[]> {
      const logged: string[] = [];
      const { logger } = api.app.nest.get(DataSource);
      const spy = jest.spyOn(logger, 'logQuery').mockImplementation((text: string) => void logged.push(text));
      expect(await request()).toMatchObject({ status: 200 });
      spy.mockRestore();
      return logged.filter((text) => !text.includes('FROM sessions'));
    }
  });

  describe('as routes:', () => {
    let routes: string[];
    let reads: string[];
    let writes: string[];

    beforeAll(() => {
      routes = routesOf(api);
      // Readiness tells how long it took to find out.
      reads = routes.filter((route) => route.startsWith('GET ') && !/docs|ready/.test(route));
      writes = routes.filter((route) => /^(POST|PUT|PATCH) /.test(route));
    });

    it('answers 400 for what can’t be an id', async () => {
      for (const { route, parameter, ask } of await parametersOf(routes)) {
        const fields = [{ field: parameter, rule: 'id', message: expect.any(String) }];
        const answers = await Promise.all(BAD_IDS.map(ask));
        const rules = answers.map(({ status, body }) => [status, body.error.fields]);
        expect([route, rules]).toEqual([route, BAD_IDS.map(() => [400, fields])]);
      }
    });

    it('answers 404 for an id that nothing has', async () => {
      for (const { route, parameter, ask } of await parametersOf(routes)) {
        const ofUser = parameter === 'userId' || route.includes(' /api/v1/users/:id');
        const code = ofUser ? 'USER_NOT_FOUND' : 'NOT_FOUND';
        const answers = await Promise.all(FREE_IDS.map(ask));
        const codes = answers.map(({ status, body }) => [status, body.error.code]);
        expect([route, codes]).toEqual([route, FREE_IDS.map(() => [404, code])]);
      }
    });

    it('answers 404 for what was deleted', async () => {
      for (const route of routes.filter((one) => /^DELETE .*:id$/.test(one))) {
        const { ids } = await requests[route](new Belongings(api, await api.user()));
        expect([route, (await sendTo(admin, route, { ids })).status]).toEqual([route, 204]);
        for (const same of routes.filter((one) => one.split(' ')[1] === route.split(' ')[1])) {
          const { body } = await requests[same](own);
          expect([same, (await sendTo(admin, same, { ids, body })).status]).toEqual([same, 404]);
        }
      }
    });

    it('answers 405 to other methods, and OPTIONS, with the methods that there are', async () => {
      const allowed = ALLOWED_METHODS.trim().split('\n').map((line) => line.trim().split(/\s+(.*)/)); // prettier-ignore
      const there = new Set(routes.map((route) => route.split(' ')[1]).filter((path) => !/docs|profile/.test(path)));
      expect(allowed.map(([path]) => path).sort()).toEqual([...there].sort());

      for (const [path, methods] of allowed) {
        const somewhere = `/${path.replace(/:\w+/g, '1')}`;
        for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND']) {
          if (methods.split(', ').includes(method)) continue;
          const answer = await api.send(method, somewhere);
          expect([method, path, answer.status, answer.headers.get('allow')]).toEqual([method, path, 405, methods]);
          if (method !== 'HEAD') expectError(answer, 'METHOD_NOT_ALLOWED');
        }
        const { status, headers } = await api.options(somewhere);
        expect([path, status, headers.get('allow')]).toEqual([path, 204, methods]);
        const patch = methods.includes('PATCH') ? 'application/json, application/merge-patch+json' : null;
        expect([path, headers.get('accept-patch')]).toEqual([path, patch]);
      }
    });

    it('answers HEAD like GET, without the body', async () => {
      const plain = { 'Accept-Encoding': 'identity' };
      const callers = [admin, api, api.with({ Authorization: 'Bearer x' })].map((client) => client.with(plain));

      for (const route of reads) {
        const request = await requests[route](own);
        const missing = { ids: request.ids?.map(() => FREE_IDS[0]) };
        for (const [client, one] of [
          ...callers.map((client) => [client, request] as const),
          [callers[0], missing] as const,
        ]) {
          const get = await sendTo(client, route, one);
          const head = await sendTo(client, route.replace('GET', 'HEAD'), one);
          expect([route, head.status, head.text, steadyHeaders(head)]).toEqual([
            route,
            get.status,
            '',
            steadyHeaders(get),
          ]);
          expect(head.headers.get('content-length')).toBe(String(Buffer.byteLength(get.text)));
        }
      }
    });

    it('answers 201 with the place of what it created', async () => {
      const creates = writes.filter((route) => route.startsWith('POST ') && !route.includes('/auth/'));
      expect(creates).toHaveLength(7);

      for (const route of creates) {
        const { status, headers, body } = await sendTo(admin, route, await requests[route](own));
        const noun = route.split('/').at(-1);
        expect([route, status, headers.get('location')]).toEqual([route, 201, `/api/v1/${noun}/${body.data.id}`]);
        expect((await admin.get(`/${headers.get('location')}`)).body.data).toEqual(body.data);
        expect(body.data.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
        expect(body.data.updated_at).toBe(body.data.created_at);
        expect(Math.abs(Date.now() - Date.parse(body.data.created_at as string))).toBeLessThan(60_000);
      }
    });

    it('takes no attribute that is not for the caller to set', async () => {
      expect(writes.length).toBeGreaterThan(15);
      for (const route of writes) {
        const request = await requests[route](own);
        const send = (name: string) => sendTo(admin, route, { ...request, body: { ...request.body, [name]: 1 } });
        const answers = await Promise.all(NOT_TO_BE_SET.map(send));
        const unknown = (field: string) => [400, [{ field, rule: 'unknown', message: expect.any(String) }]];
        const found = answers.map(({ status, body }) => [status, body.error?.fields]);
        expect([route, found]).toEqual([route, NOT_TO_BE_SET.map(unknown)]);
      }
    });

    it('takes JSON, a merge patch where it is a PATCH, and nothing else', async () => {
      for (const route of writes) {
        const send = async (type: string) => {
          const request = await requests[route](new Belongings(api, await api.user()));
          return (await sendTo(admin.with({ 'Content-Type': type }), route, request)).status;
        };
        const success = route.startsWith('POST') ? 201 : 200;
        const patch = route.startsWith('PATCH') ? 200 : 415;
        expect([route, await send('application/json; charset=utf-8')]).toEqual([route, success]);
        expect([route, await send('application/merge-patch+json')]).toEqual([route, patch]);
        expect([route, await send('text/plain')]).toEqual([route, 415]);
      }
    });

    it('shows of a single resource the attributes asked for, and takes no parameter of a collection', async () => {
      for (const route of reads.filter((one) => /:(id|postId)$/.test(one))) {
        const { ids } = await requests[route](own);
        const { data } = (await sendTo(admin, route, { ids })).body;
        for (const name of Object.keys(data as object)) {
          const answer = await sendTo(admin, route, { ids, query: `?fields=${name}` });
          expect([route, answer.body.data]).toEqual([route, only(data as Item, [name])]);
        }
        for (const wrong of ['?page=0', '?sort=id', '?search=a', '?status=PAID', '?fields=id,version', '?fields=']) {
          expect([route, wrong, (await sendTo(admin, route, { ids, query: wrong })).status]).toEqual([
            route,
            wrong,
            400,
          ]);
        }
      }
    });

    /** Each parameter of each path, and a way to ask with any value of it, all else being right. */
    async function parametersOf(routes: string[]) {
      const prepared = routes.map(async (route) => {
        const { ids = [], body } = await requests[route](own);
        const ask = (place: number) => (value: string) => sendTo(admin, route, { body, ids: ids.with(place, value) });
        return [...route.matchAll(/:(\w+)/g)].map(([, parameter], place) => ({ route, parameter, ask: ask(place) }));
      });
      return (await Promise.all(prepared)).flat();
    }
  });

  describe('in its attributes:', () => {
    describe.each(WRITABLES)('$noun', (writable) => {
      const { noun, attributes, required, defaults, replaceable } = writable;
      const visible = Object.keys(attributes).filter((name) => !attributes[name].secret);
      const path = ({ id }: Item) => `/${noun}/${id}`;
      const read = async (item: Item) => (await admin.get(path(item))).body.data as Item;
      const versionOf = async ({ id }: Item) =>
        (await query(`SELECT version FROM ${noun} WHERE id = $1`, [id]))[0].version;
      const create = async (body: object) => {
        if (noun === 'comments') return admin.post(`/posts/${(await own.post()).id}/comments`, body);
        if (noun !== 'replies') return admin.post(`/${noun}`, body);
        return admin.post('/replies', { comment_id: (await own.comment()).id, ...body });
      };
      const given = async (body: object = theMost(writable)) => {
        const answer = await create(body);
        expect(answer).toMatchObject({ status: 201 });
        return answer.body.data as Item;
      };

      it.each(Object.entries(attributes))('takes %s within its limits', async (name, { taken, secret }) => {
        await atOnce(taken, async ([sent, stored]) => {
          const shown = secret ? {} : { [name]: stored };
          const created = await given({ ...theLeast(noun), [name]: sent });
          expect(await read(created)).toMatchObject(shown);
          // So that a name is free again.
          expect(await admin.delete(path(created))).toMatchObject({ status: 204 });

          const item = await given();
          const { status, body } = await admin.patch(path(item), { [name]: sent });
          expect([sent, status]).toEqual([sent, 200]);
          expect(body.data).toEqual({ ...item, ...shown, updated_at: body.data.updated_at });
          expect(await read(item)).toEqual(body.data);
          if (replaceable) {
            const replaced = await admin.put(path(item), { ...theLeast(noun), [name]: sent });
            expect(replaced).toMatchObject({ status: 200, body: { data: shown } });
          }
          await admin.delete(path(item));
        });
      });

      it.each(Object.entries(attributes))('refuses %s beyond its limits', async (name, { refused }) => {
        const item = await given();
        await atOnce(refused, async ([sent, rule]) => {
          const fields = { [name]: rule };
          const whole = { ...theLeast(noun), [name]: sent };
          expectError(await create(whole), 'VALIDATION_ERROR', { fields });
          expectError(await admin.patch(path(item), { [name]: sent }), 'VALIDATION_ERROR', { fields });
          if (replaceable) expectError(await admin.put(path(item), whole), 'VALIDATION_ERROR', { fields });
        });
        expect(await read(item)).toEqual(item);
        expect(await versionOf(item)).toBe(1);
      });

      it('asks for what is required, and has a default for the rest', async () => {
        const all = Object.fromEntries(required.map((name) => [name, 'required']));
        expectError(await create({}), 'VALIDATION_ERROR', { fields: all });
        for (const name of required) {
          const fields = { [name]: 'required' };
          expectError(await create({ ...theLeast(noun), [name]: undefined }), 'VALIDATION_ERROR', { fields });
        }
        expect(await given(theLeast(noun))).toMatchObject(defaults);
      });

      it('keeps what a PATCH leaves out', async () => {
        for (const name of visible) {
          const item = await given();
          const value = otherThan(item[name], attributes[name]);
          const { status, body } = await admin.patch(path(item), { [name]: value });
          expect([name, status]).toEqual([name, 200]);
          expect(body.data).toEqual({ ...item, [name]: value, updated_at: body.data.updated_at });
          await admin.delete(path(item));
        }
      });

      it(replaceable ? 'takes the default of what a PUT leaves out' : 'has no PUT', async () => {
        const item = await given();
        const answer = await admin.put(path(item), theLeast(noun));
        if (!replaceable) return void expectError(answer, 'METHOD_NOT_ALLOWED');

        const same = { id: item.id, created_at: item.created_at };
        expect(answer).toMatchObject({ status: 200, body: { data: { ...defaults, ...same } } });
        for (const name of required.filter((one) => visible.includes(one))) {
          const rest = { ...theLeast(noun), [name]: undefined };
          expectError(await admin.put(path(item), rest), 'VALIDATION_ERROR', { fields: { [name]: 'required' } });
        }
      });

      it('moves updated_at and the version when it changes, and only then', async () => {
        const item = await given();
        const same = only(item, visible);
        expect(await admin.patch(path(item), {})).toMatchObject({ status: 200, body: { data: item } });
        expect(await admin.patch(path(item), same)).toMatchObject({ status: 200, body: { data: item } });
        if (replaceable) expect(await admin.put(path(item), same)).toMatchObject({ status: 200, body: { data: item } });
        expect(await versionOf(item)).toBe(1);

        const [name] = required;
        const { data } = (await admin.patch(path(item), { [name]: otherThan(item[name], attributes[name]) })).body;
        expect(Date.parse(data.updated_at as string)).toBeGreaterThan(Date.parse(item.updated_at));
        expect(data.created_at).toBe(item.created_at);
        expect(await versionOf(item)).toBe(2);
      });
    });

    describe('replies', () => {
      it.each([
        [undefined, 'required'],
        [null, 'type'],
        ['1', 'type'],
        [1.5, 'type'],
        [0, 'range'],
        [-1, 'range'],
        [2 ** 53, 'range'],
        [2 ** 53 - 1, 'exists'],
      ])('belong to a comment, not to %j', async (comment_id, rule) => {
        const answer = await admin.post('/replies', { comment_id, content: 'A reply.' });

        expectError(answer, 'VALIDATION_ERROR', { fields: { comment_id: rule } });
      });

      it('stay below their comment', async () => {
        const [reply, other] = [await own.reply(), await own.comment()];

        expectError(await admin.patch(`/replies/${reply.id}`, { comment_id: other.id }), 'VALIDATION_ERROR', {
          fields: { comment_id: 'unknown' },
        });
      });
    });

    describe('orders', () => {
      const order = (items: unknown) => admin.post('/orders', { items });
      const refuse = async (items: unknown, fields: Record<string, string | string[]>) =>
        expectError(await order(items), 'VALIDATION_ERROR', { fields });

      it('take 1 to 100 lines', async () => {
        const products = await Promise.all(times(101, () => own.product({ price: 0.01 })));
        const { items } = anOrderOf(...products);

        expect(await order(items.slice(0, 100))).toMatchObject({ status: 201, body: { data: { total_amount: 1 } } });
        await refuse(items, { items: 'length' });
        await refuse([], { items: 'length' });
        await refuse(undefined, { items: 'required' });
        for (const wrong of [null, items[0], 1, [1], [null], [[]]]) await refuse(wrong, { items: 'type' });
      });

      it('take a quantity within its limits, and only that', async () => {
        const { id: product_id } = await own.product({ stock: 2_000 });
        for (const [quantity] of QUANTITY.taken) {
          expect(await order([{ product_id, quantity }])).toMatchObject({
            status: 201,
            body: { data: { user_id: expect.any(Number), status: 'PENDING', items: [{ product_id, quantity }] } },
          });
        }
        for (const [quantity, rule] of QUANTITY.refused) {
          await refuse([{ product_id, quantity }], { 'items.0.quantity': rule });
        }
        const priced = { product_id, quantity: 1, name: 'Cheap', unit_price: 0 };
        await refuse([priced], { 'items.0.name': 'unknown', 'items.0.unit_price': 'unknown' });
        await refuse([{}], { 'items.0.product_id': 'required', 'items.0.quantity': 'required' });
      });

      it('take a status that there is, and nothing with it', async () => {
        const { id } = await own.order();
        for (const [status, rule] of [...ORDER_STATUS.refused, [undefined, 'required']]) {
          const answer = await admin.patch(`/orders/${id}/status`, { status });
          expectError(answer, 'VALIDATION_ERROR', { fields: { status: rule as string } });
        }
      });

      it('move updated_at and the version when their status changes, and only then', async () => {
        const { id } = await own.order();
        const before = (await admin.get(`/orders/${id}`)).body.data;
        const move = async (status: string) => (await admin.patch(`/orders/${id}/status`, { status })).body.data;
        const version = async () => (await query('SELECT version FROM orders WHERE id = $1', [id]))[0].version;

        expect(await move('PENDING')).toEqual(before);
        expect(await version()).toBe(1);
        const after = await move('PAID');
        expect(after).toEqual({ ...before, status: 'PAID', updated_at: after.updated_at });
        expect(Date.parse(after.updated_at as string)).toBeGreaterThan(Date.parse(before.updated_at as string));
        expect(await version()).toBe(2);
      });
    });
  });
});

/** What is required, and nothing more; another each time. */
function theLeast(noun: string): Record<string, unknown> {
  const made = { users: aNewUser, products: () => aProduct({ stock: undefined }), posts: aPost }[noun];
  return made?.() ?? { content: `Text ${++texts}.` };
}
let texts = 0;

/** Every attribute, with another value than its default. */
function theMost({ noun, attributes, defaults }: Writable): Record<string, unknown> {
  const others = Object.entries(defaults).map(([name, value]) => [name, otherThan(value, attributes[name])]);
  return { ...theLeast(noun), ...Object.fromEntries(others) };
}

function otherThan(value: unknown, { taken }: Values): unknown {
  return taken.map(([, stored]) => stored).findLast((stored) => JSON.stringify(stored) !== JSON.stringify(value));
}

function atOnce<T>(list: readonly T[], work: (one: T) => Promise<unknown>): Promise<unknown> {
  return Promise.all(list.map(work));
}

function contains(text: string | null, search: string): boolean {
  return text !== null && text.toLowerCase().includes(search.trim().toLowerCase());
}

function only(item: Item, names: string[]): object {
  return Object.fromEntries(names.map((name) => [name, item[name]]));
}

/** Where a `Link` header leads, by relation. */
function linksOf({ headers }: Answer): Record<string, string> {
  const links = headers.get('link')!.matchAll(/<([^>]+)>; rel="(\w+)"/g);
  return Object.fromEntries([...links].map(([, target, relation]) => [relation, target]));
}

/** Those that neither name the request nor belong to the connection. */
function steadyHeaders({ headers }: Answer): object {
  const others = /^(date|x-request-id|ratelimit|connection|keep-alive)$/;
  return Object.fromEntries([...headers].filter(([name]) => !others.test(name)));
}
