import type { Express } from 'express';
import { RouteIndex } from '../../src/conventions/requests/route-index';
import type { Belongings, Row } from './belongings';
import { aPost, aProduct, anOrderOf } from './builders';
import type { Answer, Client, TestApi } from './test-api';

export interface PreparedRequest {
  /** What stands in the places of the path's parameters. */
  ids?: (number | string)[];
  /** With its question mark. */
  query?: string;
  /** Bytes are sent as they are. */
  body?: object;
  headers?: Record<string, string>;
}

export type Prepare = (own: Belongings) => PreparedRequest | Promise<PreparedRequest>;

let users = 0;
export const aNewUser = (attributes: object = {}) => ({
  username: `new-user-${++users}`,
  email: `new-user-${users}@example.com`,
  password: 'a password of a test',
  ...attributes,
});

/** A request on what `make` makes. */
export const on =
  (make: (own: Belongings) => Promise<Row>, body?: object): Prepare =>
  async (own) => ({ ids: [(await make(own)).id], body });

const onOwner =
  (body?: () => object): Prepare =>
  ({ owner }) => ({ ids: [owner.id], body: body?.() });

const plain = () => ({});
const TUS = { 'Tus-Resumable': '1.0.0' };
const ofUpload =
  (status?: string) =>
  async (own: Belongings): Promise<PreparedRequest> => ({ ids: [String((await own.upload({ status })).key)] });
const product = (own: Belongings) => own.product();
const order = (own: Belongings) => own.order();
const post = (own: Belongings) => own.post();
const comment = (own: Belongings) => own.comment();
const reply = (own: Belongings) => own.reply();
const text = { content: 'Some other text.' };

/** For each route of the application a request that succeeds, if only its caller may: on things of their own. */
export const requests: Record<string, Prepare> = {
  'GET /docs': plain,
  'GET /docs/json': plain,
  'GET /health/live': plain,
  'GET /health/ready': plain,
  'GET /.well-known/jwks.json': plain,
  'GET /api/v1/public': plain,

  'POST /api/v1/auth/tokens': async ({ api }) => {
    const { username, password } = await api.user();
    return { body: { username, password } };
  },
  'PUT /api/v1/auth/tokens': async ({ api }) => ({ body: { refresh_token: (await api.user()).refreshToken } }),
  'DELETE /api/v1/auth/tokens': async ({ api }) => ({ body: { refresh_token: (await api.user()).refreshToken } }),

  'GET /api/v1/users': plain,
  'GET /api/v1/users/profile': plain,
  'GET /api/v1/users/:id': onOwner(),
  'POST /api/v1/users': () => ({ body: aNewUser() }),
  'PUT /api/v1/users/:id': onOwner(() => aNewUser({ password: undefined })),
  'PATCH /api/v1/users/:id': onOwner(() => ({ name: 'Another' })),
  'DELETE /api/v1/users/:id': onOwner(),

  'GET /api/v1/products': plain,
  'GET /api/v1/products/:id': on(product),
  'POST /api/v1/products': () => ({ body: aProduct() }),
  'PUT /api/v1/products/:id': on(product, aProduct()),
  'PATCH /api/v1/products/:id': on(product, { stock: 1 }),
  'DELETE /api/v1/products/:id': on(product),

  'GET /api/v1/orders': plain,
  'GET /api/v1/orders/:id': on(order),
  'POST /api/v1/orders': async (own) => ({ body: anOrderOf(await own.product()) }),
  'PATCH /api/v1/orders/:id/status': on(order, { status: 'CANCELLED' }),

  'GET /api/v1/posts': plain,
  'GET /api/v1/posts/:id': on(post),
  'POST /api/v1/posts': () => ({ body: aPost() }),
  'PUT /api/v1/posts/:id': on(post, aPost()),
  'PATCH /api/v1/posts/:id': on(post, { title: 'Another' }),
  'DELETE /api/v1/posts/:id': on(post),
  'GET /api/v1/users/:userId/posts': onOwner(),
  'GET /api/v1/users/:userId/posts/:postId': async (own) => ({ ids: [own.owner.id, (await own.post()).id] }),
  'POST /api/v1/users/:userId/posts': onOwner(aPost),

  'GET /api/v1/posts/:id/comments': on(post),
  'POST /api/v1/posts/:id/comments': on(post, text),
  'GET /api/v1/comments/:id': on(comment),
  'PATCH /api/v1/comments/:id': on(comment, text),
  'DELETE /api/v1/comments/:id': on(comment),

  'GET /api/v1/replies': plain,
  'GET /api/v1/replies/:id': on(reply),
  'POST /api/v1/replies': async (own) => ({ body: { ...text, comment_id: (await own.comment()).id } }),
  'GET /api/v1/uploads': plain,
  'OPTIONS /api/v1/uploads': plain,
  'POST /api/v1/uploads': () => ({ headers: { ...TUS, 'Upload-Length': '1' } }),
  'OPTIONS /api/v1/uploads/:key': ofUpload(),
  'GET /api/v1/uploads/:key': ofUpload(),
  'GET /api/v1/uploads/:key/content': ofUpload('COMPLETE'),
  'PATCH /api/v1/uploads/:key': async (own) => ({
    ...(await ofUpload()(own)),
    body: Buffer.from('x'),
    headers: { ...TUS, 'Content-Type': 'application/offset+octet-stream', 'Upload-Offset': '0' },
  }),
  'DELETE /api/v1/uploads/:key': ofUpload(),

  'PATCH /api/v1/replies/:id': on(reply, text),
  'DELETE /api/v1/replies/:id': on(reply),
};

/** What @nestjs/swagger adds to the page and the document that it was asked for. */
const OF_SWAGGER_UI = /^GET \/docs\/(?!json)/;

/** The routes of the running application, as Express knows them. */
export function routesOf({ app }: TestApi): string[] {
  return RouteIndex.routesOf(app.nest.getHttpAdapter().getInstance() as Express)
    .flatMap(({ route }) => methodsOf(route!).map((method) => `${method} ${inVersion1(route!.path)}`))
    .filter((name) => !OF_SWAGGER_UI.test(name));
}

/** The one routing table knows no version; a caller names it. */
const inVersion1 = (path: string) => path.replace(/^\/api\//, '/api/v1/');

/** Nest's own handlers are for all methods, which Express marks with `_all`: they are no route. */
function methodsOf(route: object): string[] {
  const { methods } = route as { methods: Record<string, boolean> };
  return Object.keys(methods)
    .filter((method) => method !== '_all')
    .map((method) => method.toUpperCase());
}

/** @param route e.g. `GET /api/v1/users/:id`; what follows its path is for the reader */
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
