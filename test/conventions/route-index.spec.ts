import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';
import express, { type Express, type RequestHandler } from 'express';
import { RouteIndex, type RouteMethod, stackOf } from '../../src/platform/routing/route-index';

type Add = (method: RouteMethod, path: string, handler: RequestHandler) => void;

const answer =
  (name: string): RequestHandler =>
  (request, response) =>
    void response.json({ name, params: request.params, route: request.route.path, seen: response.locals.seen });

/** Adds a route of each kind of path, in an order that matters. */
function build(app: Express, add: Add): void {
  app.use((_request, response, next) => {
    response.locals.seen = ['first'];
    next();
  });
  add('get', '/api/things', answer('list'));
  add('post', '/api/things', answer('create'));
  add('get', '/api/things/special', answer('special'));
  add('get', '/api/things/:id', (request, response, next) =>
    request.params.id === 'another' ? next() : answer('one')(request, response, next),
  );
  add('get', '/api/things/:other', answer('what the one before left'));
  add('get', '/api/:noun/of-all', answer('of any noun'));
  add('get', '/api/things/of-all', answer('never: the one of any noun came first'));
  app.use('/api/late', (_request, response, next) => {
    response.locals.seen.push('late');
    next();
  });
  add('get', '/api/late/:id', answer('after its middleware'));
  add('get', '/docs', answer('docs'));
  add('get', '/', answer('root'));
  add('get', '/api/things/failing/now', () => {
    throw new Error('Failed');
  });
  add('get', '/*rest', answer('the rest'));
  const onError: express.ErrorRequestHandler = (error, _request, response, _next) =>
    void response.status(500).json({ error: (error as Error).message });
  app.use(onError);
}

const REQUESTS = [
  'GET /api/things',
  'GET /API/Things/?a=/b/c',
  'HEAD /api/things',
  'POST /api/things',
  'PUT /api/things',
  'GET /api/things/special',
  'GET /api/things/7',
  'GET /api/things/another',
  'GET /api/things/of-all',
  'GET /api/cups/of-all',
  'GET /api/%74hings',
  'GET /api//things',
  'GET //api/things',
  'GET /api',
  'GET /api/late/3',
  'GET /docs',
  'GET /docs/',
  'GET /docs/more',
  'GET /',
  'GET /api/things/failing/now',
  'GET /api/things/%ff',
  'DELETE /nowhere',
];

describe('Routes that are found by an index', () => {
  let indexed: Server;
  let plain: Server;

  beforeAll(async () => {
    const withIndex = express();
    build(withIndex, (method, path, handler) =>
      (RouteIndex.routerFor(withIndex, path) ?? withIndex)[method](path, handler),
    );
    const without = express();
    build(without, (method, path, handler) => without[method](path, handler));
    [indexed, plain] = [withIndex, without].map((app) => app.listen(0, '127.0.0.1'));
    await Promise.all([indexed, plain].map((server) => once(server, 'listening')));
  });

  afterAll(() => Promise.all([indexed, plain].map((server) => new Promise((done) => server.close(done)))));

  async function ask(server: Server, request: string) {
    const [method, path] = request.split(' ');
    const { port } = server.address() as AddressInfo;
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { method, headers: { Connection: 'close' } });
    return { status: response.status, body: await response.text() };
  }

  it.each(REQUESTS)('answer %s as without it', async (request) => {
    expect(await ask(indexed, request)).toEqual(await ask(plain, request));
  });

  it('are all listed, in their order', () => {
    const app = express();
    const paths = ['/api/things', '/api/cups', '/:any', '/api/things/:id'];
    for (const path of paths) (RouteIndex.routerFor(app, path) ?? app).get(path, answer(path));

    expect(RouteIndex.routesOf(app).map(({ route }) => route!.path)).toEqual(paths);
    expect(RouteIndex.routesOf(app, '/api/cups').map(({ route }) => route!.path)).toEqual(['/api/cups', '/:any']);
  });

  describe('and a middleware right before them', () => {
    const rewriting: RequestHandler = (request, _response, next) => {
      if (request.url === '/api/refused') return next(new Error('Refused'));
      request.url = request.url.replace('/v1', '');
      next();
    };
    let server: Server;
    let app: Express;

    beforeEach(async () => {
      app = express();
      app.use(rewriting);
      for (const path of ['/api/things/:id', '/api/cups', '/:any/:more']) {
        (RouteIndex.routerFor(app, path, rewriting) ?? app).get(path, answer(path));
      }
      app.use((request, response) => void response.status(404).json({ url: request.url }));
      app.use(((error, _request, response, _next) => {
        response.status(500).json({ error: (error as Error).message });
      }) satisfies express.ErrorRequestHandler);
      server = app.listen(0, '127.0.0.1');
      await once(server, 'listening');
    });

    afterEach(() => new Promise((done) => server.close(done)));

    const asked = async () => {
      const paths = ['/api/v1/things/7', '/api/v1/cups', '/v1/a/b', '/api/v1', '/api/refused'];
      return Promise.all(paths.map((path) => ask(server, `GET ${path}`)));
    };

    it('take one step of the router', async () => {
      expect(stackOf(app)).toHaveLength(4);
      expect(
        (await asked()).map(({ status, body }) => [status, (JSON.parse(body) as { route?: string }).route]),
      ).toEqual([
        [200, '/api/things/:id'],
        [200, '/api/cups'],
        [200, '/:any/:more'],
        [404, undefined],
        [500, undefined],
      ]);
    });

    it('answer the same after they were moved to the application', async () => {
      const before = await asked();

      RouteIndex.dissolve(app);

      expect(stackOf(app)).toHaveLength(6);
      expect(await asked()).toEqual(before);
    });
  });
});
