import { DeclaredAccess } from '../../src/platform/auth/declared-access';
import { includesOf } from '../../src/platform/input/includes';
import { includingOf } from '../../src/platform/pipeline/including';
import { type Answer, type Client, statementsOf } from '../../src/platform/testing';
import { describeForEach, lacks } from '../support/asked';
import { documentOf } from '../support/contract';
import { Fixtures } from '../support/fixtures';
import type { Node } from '../support/openapi';
import { documentedRoutes, isAsked, requestOf, sendTo } from '../support/requests';
import { useTestApi } from '../support/test-api';

type Item = Record<string, unknown> & { id: number };

const namesOf = ({ spec }: { spec: Node }): string[] =>
  (spec.parameters as Node[]).find(({ name }) => name === 'include')?.schema.items?.enum ?? [];
const routeOf = ({ name }: { name: string }): string => name.replaceAll(/\{(\w+)\}/g, ':$1');

/** The routes whose documents say what `include` may name. */
const ROUTES = documentedRoutes((route) => namesOf(route).length > 0);
const OPERATIONS = new Map(documentOf('1').operations.map((operation) => [routeOf(operation), operation]));

/** All that `include` may name, asked of each route that takes it; the finer points are in includes.spec.ts. */
describe('every include', () => {
  const api = useTestApi();
  let admin: Client;
  let own: Fixtures;

  beforeAll(async () => {
    admin = api.as(await api.admin());
    own = new Fixtures(api, await api.user());
  });

  it('is documented where a resource declares it', () => {
    const declared = api.app.nest
      .get(DeclaredAccess)
      .routes()
      .flatMap(({ name, owner, targets: [handler] }) => {
        const [method, path] = name.split(' ');
        const dto = method === 'GET' ? includingOf(handler, owner) : undefined;
        return dto && includesOf(dto).length > 0 ? [`GET /api/v1/${path}`] : [];
      });

    expect(ROUTES).toEqual(declared.filter(isAsked).sort());
  });

  describeForEach(ROUTES)('of %s', (route) => {
    const names = namesOf(OPERATIONS.get(route)!);
    const include = `?include=${names.join(',')}`;
    const itemsOf = ({ body }: Answer) => [body.data as Item | Item[]].flat();
    const ask = async (version: string) => {
      const request = await requestOf(route, own);
      const send = (query: string) => sendTo(admin, route.replace('/v1/', `/${version}/`), { ...request, query });
      return { plain: () => send(''), whole: () => send(include) };
    };

    it.each(['v1', 'v2'])(
      'embeds the row of each id, or null, and lists with their pagination: %s',
      async (version) => {
        const { plain, whole } = await ask(version);
        const [before, answer] = [itemsOf(await plain()), await whole()];

        if (answer.status !== 200) lacks([`${route}${include} answers ${answer.status}: ${answer.text}`]);
        for (const [index, item] of itemsOf(answer).entries()) {
          expect(item).toMatchObject(before[index]);
          expect(Object.keys(item).slice(-names.length)).toEqual(names);
          for (const name of names) requireEmbedded(item, name);
        }
      },
    );

    it('sends one statement for each name at most', async () => {
      const { plain, whole } = await ask('v1');
      const before = await statementsOf(plain);
      // A job of the service may send a statement meanwhile, but not each time.
      const after = [await statementsOf(whole), await statementsOf(whole)].map(({ length }) => length);

      expect(Math.min(...after)).toBeLessThanOrEqual(before.length + names.length);
    });
  });

  function requireEmbedded(item: Item, name: string): void {
    const embedded = item[name] as Item | null;
    const id = item[`${name}_id`];
    if (id !== undefined) return expect(embedded === null || embedded.id === id).toBe(true);
    expect(embedded).toEqual({ data: expect.any(Array) as unknown, pagination: expect.any(Object) as unknown });
  }
});
