import type { Express } from 'express';
import { RouteIndex } from '../../src/platform/routing/route-index';
import type { Answer, Client } from '../../src/platform/testing';
import type { Fixtures } from './fixtures';
import { documentOf } from './contract';
import type { Node, Operation } from './openapi';
import { lacks, NOUNS } from './asked';
import { plain, type Prepare, type PreparedRequest } from './prepared-request';
import { ASKED, RESOURCES } from './resources';
import { shelves, slots } from './resources/shelves';
import { specimens } from './resources/specimens';
import type { TestApi } from './test-api';

/** A successful request for each route of the application. */
const requests: Record<string, Prepare> = {
  'GET /api/v1': plain,
  'GET /docs': plain,
  'GET /docs/json': plain,
  'GET /health/live': plain,
  'GET /health/ready': plain,
  'GET /.well-known/jwks.json': plain,
  'GET /.well-known/openapi.json': plain,
  'GET /api/v1/public': plain,

  'POST /api/v1/auth/tokens': async ({ api }) => {
    const { username, password } = await api.user();
    return { body: { username, password } };
  },
  'PUT /api/v1/auth/tokens': async ({ api }) => ({ body: { refresh_token: (await api.user()).refreshToken } }),
  'DELETE /api/v1/auth/tokens': async ({ api }) => ({ body: { refresh_token: (await api.user()).refreshToken } }),

  ...Object.fromEntries(RESOURCES.flatMap(({ requests }) => Object.entries(requests))),
};

/** Those of the resources that are in the tests alone. */
const OF_TESTS = { ...specimens.requests, ...shelves.requests, ...slots.requests };

/** The routes that have a request here, of the resources that are asked. */
export const ROUTES = NOUNS ? ASKED.flatMap((one) => Object.keys(one.requests)) : Object.keys(requests);

/** Whether a route of the application belongs to the resources that are asked. One that nobody describes does by its noun. */
export function isAsked(route: string): boolean {
  if (!NOUNS || ROUTES.includes(route)) return true;
  return !(route in requests) && NOUNS.some((noun) => `${route}/`.includes(`/${noun}/`));
}

/**
 * A request that succeeds if its caller is allowed to make it, on rows of the owner.
 * @param route a name of {@link routesOf}, or a route of a resource of the tests
 */
export function requestOf(route: string, own: Fixtures): PreparedRequest | Promise<PreparedRequest> {
  const prepare = requests[route] ?? OF_TESTS[route];
  if (!prepare) lacks([`${route} has no request: add it to \`requests\` of its file in test/support/resources/`]);
  return prepare(own);
}

/** Routes that @nestjs/swagger adds to its page. */
const OF_SWAGGER_UI = /^GET \/docs\/(?!json)/;

/** The routes of the running application that are asked, read from Express. */
export function routesOf({ app }: TestApi): string[] {
  return RouteIndex.routesOf(app.nest.getHttpAdapter().getInstance() as Express)
    .flatMap(({ route }) => methodsOf(route!).map((method) => `${method} ${inVersion1(route!.path)}`))
    .filter((name) => !OF_SWAGGER_UI.test(name) && isAsked(name));
}

type DocumentedRoute = Operation & { response: (status: number) => Node };

/** The asked routes for which `says` finds something in the checked-in document, sorted. */
export function documentedRoutes(says: (route: DocumentedRoute) => unknown): string[] {
  const document = documentOf('1');
  return document.operations
    .filter((one) => says({ ...one, response: (status) => document.response(one, status) }))
    .map(({ name }) => name.replaceAll(/\{(\w+)\}/g, ':$1'))
    .filter(isAsked)
    .sort();
}

/** The routing table has no versions; a caller's path has one. */
const inVersion1 = (path: string) => path.replace(/^\/api(?=\/|$)/, '/api/v1');

/** Excludes Nest's own handlers for all methods, which Express marks with `_all`. */
function methodsOf(route: object): string[] {
  const { methods } = route as { methods: Record<string, boolean> };
  return Object.keys(methods)
    .filter((method) => method !== '_all')
    .map((method) => method.toUpperCase());
}

/** @param route e.g. `GET /api/v1/users/:id`. Text after the path is ignored */
export function sendTo(
  client: Client,
  route: string,
  { ids = [], query = '', body, headers }: PreparedRequest,
): Promise<Answer> {
  const [method, pattern] = route.split(' ');
  const places = [...ids];
  const path = pattern.replace(/:\w+/g, () => String(places.shift()));
  return client.send(method, `/${path}${query}`, body, headers);
}
