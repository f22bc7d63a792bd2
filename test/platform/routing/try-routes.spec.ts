import { tracingChannel } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import fc from 'fast-check';
import { RouteIndex, type RouteMethod } from '../../../src/platform/routing/route-index';

/** What a handler of a route does with a request. */
const WAYS = ['answer', 'next', 'route', 'router', 'error', 'throw', 'reject', 'rewrite', 'send'] as const;
type Way = (typeof WAYS)[number];

interface Added {
  method: RouteMethod | 'all';
  path: string;
  ways: Way[];
}

const PATHS = ['/api/things', '/api/things/:id', '/api/things/:name/more', '/api/things/*rest', '/api/:any/:id'];
const REQUESTS = ['/api/things', '/api/things/7?a=1', '/API/things/%41/more', '/api/things/%ff', '/api/cups/1', '/api'];
const METHODS = ['GET', 'HEAD', 'POST', 'PATCH'];

/** Does one of the ways, and notes what Express tells a handler. */
function handlerOf(way: Way, name: string): RequestHandler {
  return (request, response, next) => {
    const { url, baseUrl, originalUrl, params, route } = request;
    const seen = { name, url, baseUrl, originalUrl, params: { ...params }, route: (route as { path: string }).path };
    (response.locals.seen as unknown[]).push(seen);
    switch (way) {
      case 'next':
        return next();
      case 'route':
        return next('route');
      case 'router':
        return next('router');
      case 'error':
        return next(new Error(name));
      case 'throw':
        throw new Error(name);
      case 'reject':
        return Promise.reject(new Error(name));
      case 'rewrite':
        request.url = '/api/things/rewritten';
        return next();
      case 'send':
        // Express's own functions pass their errors on like this.
        return request.next!(new Error(`sent by ${name}`));
      default:
        return void response.json(response.locals.seen);
    }
  };
}

function build(added: Added[], isIndexed: boolean): Express {
  const app = express();
  app.use((_request, response, next) => {
    response.locals.seen = [];
    next();
  });
  added.forEach(({ method, path, ways }, index) => {
    const handlers = ways.map((way, at) => handlerOf(way, `${index}.${at}`));
    const router = isIndexed ? RouteIndex.routerFor(app, path) : undefined;
    (router ?? app)[method](path, ...handlers);
  });
  app.use((request, response) => {
    const { url, params, next, route } = request;
    const of = (route as { path: string } | undefined)?.path;
    response.status(404).json({ url, params, next: typeof next, of, seen: response.locals.seen });
  });
  const onError: ErrorRequestHandler = (error, { params }, response, _next) => {
    const { message, status } = error as Error & { status?: number };
    response.status(status ?? 500).json({ message, params, seen: response.locals.seen });
  };
  app.use(onError);
  return app;
}

/** Serves an application while it is asked. */
async function asked<T>(app: Express, ask: (path: string, method?: string) => Promise<T>, all: [string, string?][]) {
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  try {
    return await Promise.all(all.map(([path, method]) => ask(`http://127.0.0.1:${port}${path}`, method)));
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

const request = (url: string, method?: string) => fetch(url, { method, signal: AbortSignal.timeout(10_000) });

const statusesOf = (app: Express, path: string): Promise<number[]> =>
  asked(app, async (url) => (await request(url)).status, [[path]]);

function answersOf(app: Express): Promise<unknown[]> {
  const all = METHODS.flatMap((method) => REQUESTS.map((path): [string, string] => [path, method]));
  const ask = async (url: string, method?: string) => {
    const response = await request(url, method);
    const path = new URL(url).pathname;
    return [method, path, response.status, response.headers.get('allow'), await response.text()];
  };
  return asked(app, ask, all);
}

const added = fc.record({
  method: fc.constantFrom<Added['method']>('get', 'get', 'post', 'all'),
  path: fc.constantFrom(...PATHS),
  ways: fc.array(fc.constantFrom(...WAYS), { minLength: 1, maxLength: 3 }),
});

describe('Routes that are tried without a router', () => {
  it("get what Express's router gives them, whatever the ones before do with a request", async () => {
    const tables = fc.array(added, { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(tables, async (table) => {
        expect(await answersOf(build(table, true))).toEqual(await answersOf(build(table, false)));
      }),
      { numRuns: 60 },
    );
  }, 60_000);

  it.each(['http://[bad/', undefined])(
    'are over when a handler has made %s of the URL, and passes it on later',
    async (url) => {
      const later: RequestHandler = (request, _response, next) => {
        setTimeout(() => {
          request.url = url!;
          next();
        }, 1);
      };
      const tables = [true, false].map((isIndexed) => {
        const app = express();
        const router = isIndexed ? RouteIndex.routerFor(app, '/api/things/:id') : undefined;
        (router ?? app).get('/api/things/:id', later);
        return app.use(((_error, _request, response, _next) => void response.send('refused')) as ErrorRequestHandler);
      });
      const [indexed, plain] = await Promise.all(tables.map((app) => statusesOf(app, '/api/things/7')));

      expect(indexed).toEqual([404]);
      expect(indexed).toEqual(plain);
    },
  );

  it('may pass a request on any number of times', async () => {
    const app = express();
    for (let index = 0; index < 5_000; index++) {
      RouteIndex.routerFor(app, '/api/things')!.get('/api/things', (_request, _response, next) => next());
    }
    RouteIndex.routerFor(app, '/api/things')!.get('/api/things', (_request, response) => void response.send('last'));

    expect(await statusesOf(app, '/api/things')).toEqual([200]);
  });

  it('are called by their layer, which instrumentations replace', async () => {
    const app = express();
    const router = RouteIndex.routerFor(app, '/api/things')!;
    router.get('/api/things', (_request, response) => void response.send('things'));
    const [layer] = router.stack as unknown as { handle: RequestHandler }[];
    const { handle } = layer;
    const seen = jest.fn();
    layer.handle = (request, response, next) => {
      seen(request.route);
      return handle(request, response, next);
    };

    expect(await statusesOf(app, '/api/things')).toEqual([200]);
    expect(seen).toHaveBeenCalledWith(expect.objectContaining({ path: '/api/things' }));
  });

  it("leave a request to the router while somebody listens to Express's channel", async () => {
    const table: Added[] = [{ method: 'get', path: '/api/things/:id', ways: ['next', 'answer'] }];
    const told: unknown[] = [];
    const start = (context: unknown) => void told.push((context as { route?: unknown }).route);
    const channel = tracingChannel('express.router.request');
    channel.start.subscribe(start);
    try {
      await answersOf(build(table, true));
    } finally {
      channel.start.unsubscribe(start);
    }

    expect(told).toContain('/api/things/:id');
  });
});
