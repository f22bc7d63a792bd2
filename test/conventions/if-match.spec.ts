import { randomUUID } from 'node:crypto';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants';
import { IfMatch, type Precondition } from '../../src/platform';
import { DeclaredAccess, type DeclaredRoute } from '../../src/platform/auth/declared-access';
import { type Answer, type Client, expectError } from '../../src/platform/testing';
import { UnitOfWork } from '../../src/platform/transactions/unit-of-work';
import { Fixtures } from '../support/fixtures';
import type { Node } from '../support/openapi';
import { documentedRoutes, requestOf, ROUTES, sendTo } from '../support/requests';
import { useTestApi } from '../support/test-api';

/** E.g. `PATCH /api/v1/products/:id`. */
const GUARDED = documentedRoutes(({ spec }) => (spec.parameters as Node[]).some(({ name }) => name === 'If-Match'));

const answersWith = (status: number) => documentedRoutes(({ spec }) => spec.responses[status]);

const STALE = ['"2"', '"0"', '"01"', '"0000000001"', 'W/"1"', '1', '"x"', '', '"99999999999"', '"2", "3"'];

const tagOf = ({ headers }: Answer) => headers.get('etag');

/** A parameter of a handler, as Nest keeps it: the function belongs to the decorator. */
const decoratorsOf = (owner: object, handler: string): unknown[] => {
  const parameters = (Reflect.getMetadata(ROUTE_ARGS_METADATA, owner, handler) ?? {}) as Record<
    string,
    { factory?: unknown }
  >;
  return Object.values(parameters).map(({ factory }) => factory);
};

class Sample {
  handle(@IfMatch() _expected?: Precondition): void {}
}
const [IF_MATCH] = decoratorsOf(Sample, 'handle');

describe('If-Match', () => {
  const api = useTestApi();
  let admin: Client;

  beforeAll(async () => {
    admin = api.as(await api.admin());
  });
  afterEach(() => jest.restoreAllMocks());

  it('is documented where one resource is changed or deleted', () => {
    const changes = ROUTES.filter((route) => /^(PATCH|DELETE) .*\/:/.test(route));

    expect(changes.length).toBeGreaterThan(10);
    expect(GUARDED).toEqual(expect.arrayContaining([...changes, 'PUT /api/v1/products/:id']));
  });

  describe.each(GUARDED)('of %s', (route) => {
    const request = async () => requestOf(route, new Fixtures(api, await api.user()));
    const success = [200, 201, 204].find((status) => answersWith(status).includes(route));

    it('is a parameter of the handler: @IfMatch() expected?: Precondition', () => {
      const { name, owner, handler } = handlerOf(route);

      expect(IF_MATCH).toBeInstanceOf(Function);
      expect([name, decoratorsOf(owner, handler)]).toEqual([name, expect.arrayContaining([IF_MATCH])]);
    });

    it('reaches what writes the row by that parameter: 412', async () => {
      // What is not passed on is compared all the same, but with whichever row is written first.
      jest.spyOn(UnitOfWork.prototype, 'pendingPrecondition', 'get').mockReturnValue(undefined);

      expectError(await sendTo(admin.with({ 'If-Match': '"2"' }), route, await request()), 'PRECONDITION_FAILED');
    });

    it('answers 412 with the current tag when it is stale, and nothing has happened', async () => {
      const prepared = await request();
      for (const stale of STALE) {
        const answer = await sendTo(admin.with({ 'If-Match': stale }), route, prepared);
        expect([stale, answer.status, tagOf(answer)]).toEqual([stale, 412, '"1"']);
        expectError(answer, 'PRECONDITION_FAILED');
      }
      for (const condition of ['*', '"1"', '"5", "1"']) {
        const answer = await sendTo(admin.with({ 'If-None-Match': condition }), route, prepared);
        expect([condition, answer.status]).toEqual([condition, 412]);
      }
      const current = await sendTo(admin.with({ 'If-Match': '"7", "1"' }), route, prepared);
      expect(current.status).toBe(success);
    });

    it('may be any, where there is one', async () => {
      const prepared = await request();
      const any = admin.with({ 'If-Match': '*', 'If-None-Match': '"99"' });
      const free = route.includes(':key') ? randomUUID() : '999999';

      expect((await sendTo(any, route, { ...prepared, ids: [free] })).status).toBe(404);
      expect((await sendTo(any, route, prepared)).status).toBe(success);
    });
  });

  /** @throws Error where the application has none */
  function handlerOf(route: string): DeclaredRoute {
    const found = api.app.nest
      .get(DeclaredAccess)
      .routes()
      .find(({ name }) => route === name.replace(/^(\w+) \/?(\S+?)\/? \(.*$/, '$1 /api/v1/$2'));
    if (!found) throw new Error(`No handler has the route ${route}`);
    return found;
  }
});
