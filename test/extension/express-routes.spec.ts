import { Controller, Get, Module, Param, Post } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import express, {
  type RequestParamHandler,
  type ErrorRequestHandler,
  type Express,
  type Request,
  type RequestHandler,
  type Response,
} from 'express';
import { Public, UnitOfWork } from '../../src/platform';
import { type Client, expectError } from '../../src/platform/testing';
import { useTestApi } from '../support/test-api';

const mark =
  (name: string): RequestHandler =>
  (_request, response, next) => {
    response.appendHeader('X-Seen', name);
    next();
  };
const answer =
  (name: string): RequestHandler =>
  ({ baseUrl, path, params, route }, response) =>
    void response.json({ name, baseUrl, path, params, route: (route as { path?: unknown } | undefined)?.path });
const fail: RequestHandler = () => {
  throw new Error('A secret of the handler');
};

/** What the documentation of Express shows. */
function addAll(app: Express): void {
  app.get('/hand/several', mark('first'), mark('second'), answer('several'));
  app.post('/hand/list', [mark('first'), mark('second')], answer('list'));
  app.get('/hand/chained', answer('chained get')).get('/hand/chained/more', answer('chained more'));
  app
    .route('/hand/route')
    .all(mark('all'))
    .get(answer('route get'))
    .post((_request, response) => void response.status(201).json({ route: 'post' }));
  app.all('/hand/all', answer('all'));
  app.get(['/hand/one', '/hand/two'], answer('of a list of paths'));
  app.get(/^\/hand\/(?<name>[a-z]+)\.txt$/, answer('of an expression'));
  app.get('/hand/:first-:second', answer('of two parameters'));
  app.get('/hand/passed', (_request, _response, next) => next('route'), fail);
  app.get('/hand/passed', answer('the next route'));
  app.get('/hand/failing', fail);
  app.post('/hand/rejecting', () => Promise.reject(new Error('A secret of the handler')));
  const handled: ErrorRequestHandler = (error, _request, response, _next) =>
    void response.status(418).json({ handled: (error as Error).message });
  app.post('/hand/handled', fail, handled);
  app.post('/hand/unit', (_request, response) => {
    setImmediate(() => response.json({ unit: UnitOfWork.current() !== undefined }));
  });
  const router = express.Router();
  router.use(mark('router'));
  router.get('/:id', answer('of a router'));
  app.use('/hand/router', router);
  app.get('/api/hand', answer('of every version'));
  app.get('/api/v1/hand/first', answer('of version 1'));
  app.use('/api/v1/cups', mark('use 1'));
  app.use('/api/cups', mark('use'));
  app.use(['/api/v2/cups', '/never'], mark('use 2'));
  const legacy = express();
  // It has settings of its own.
  legacy.disable('x-powered-by');
  legacy.get('/page', answer('legacy'));
  legacy.get('/failing', fail);
  app.use('/legacy', legacy);
}

@Controller('cups')
@Public()
class CupsController {
  @Get()
  list(): object {
    return { cups: [] };
  }

  @Get('by-name/:name')
  byName(@Param('name') name: string): object {
    return { name };
  }

  @Post()
  create(): object {
    return { created: true };
  }
}

@Module({ controllers: [CupsController] })
class CupsModule {
  constructor(private readonly host: HttpAdapterHost) {}

  onModuleInit(): void {
    const app: Express = this.host.httpAdapter.getInstance();
    app.get('/api/v2/at-init', answer('at init'));
    app.get('/api/cups', answer('never: the controller came first'));
  }
}

describe.each(['after', 'before'])('Routes of Express that are added %s configureApp', (when) => {
  const api = useTestApi({
    imports: [CupsModule],
    ...(when === 'after' && { prepare: (app) => addAll(app.getHttpAdapter().getInstance() as Express) }),
    ...(when === 'before' && { beforehand: (app) => addAll(app.getHttpAdapter().getInstance() as Express) }),
  });

  it('take several handlers, and lists of them', async () => {
    const several = await api.get('//hand/several');
    expect([several.body.name, several.headers.get('x-seen')]).toEqual(['several', 'first, second']);
    const list = await api.post('//hand/list');
    expect([list.body.name, list.headers.get('x-seen')]).toEqual(['list', 'first, second']);
  });

  it('are chained', async () => {
    expect((await api.get('//hand/chained')).body.name).toBe('chained get');
    expect((await api.get('//hand/chained/more')).body.name).toBe('chained more');
    const get = await api.get('//hand/route');
    expect([get.body.name, get.headers.get('x-seen'), get.body.route]).toEqual(['route get', 'all', '/hand/route']);
    expect((await api.post('//hand/route')).status).toBe(201);
  });

  it('may be for all methods, lists of paths, expressions and several parameters', async () => {
    for (const method of ['GET', 'PUT', 'DELETE', 'OPTIONS']) {
      expect((await api.send(method, '//hand/all')).body.name).toBe('all');
    }
    expect((await api.get('//hand/two')).body.name).toBe('of a list of paths');
    expect((await api.get('//hand/cup.txt')).body).toMatchObject({ name: 'of an expression', params: { name: 'cup' } });
    expect((await api.get('//hand/a-b')).body.params).toEqual({ first: 'a', second: 'b' });
    expect((await api.get('//hand/passed')).body.name).toBe('the next route');
  });

  it('may be those of a router or of another application', async () => {
    const { body, headers } = await api.get('//hand/router/7');
    expect([headers.get('x-seen'), body]).toEqual([
      'router',
      { name: 'of a router', baseUrl: '/hand/router', path: '/7', params: { id: '7' }, route: '/:id' },
    ]);
    expect((await api.get('//legacy/page')).body).toMatchObject({ name: 'legacy', baseUrl: '/legacy', path: '/page' });
  });

  it('answer by the error envelope when they throw, without a stack', async () => {
    for (const path of ['//hand/failing', '//legacy/failing']) {
      expectError(await api.get(path), 'INTERNAL_ERROR', { secret: 'A secret' });
    }
    expectError(await api.post('//hand/rejecting'), 'INTERNAL_ERROR', { secret: 'A secret' });
    expect((await api.post('//hand/handled')).status).toBe(418);
    expectError(await api.post('//hand/failing'), 'METHOD_NOT_ALLOWED');
    expectError(await api.get('//hand/router'), 'NOT_FOUND');
  });

  it('get an id, a line of the log, security headers and a unit of work', async () => {
    const { headers, body } = await api.post('//hand/unit', undefined, { 'X-Request-Id': `by-hand-${when}` });

    expect([headers.get('x-request-id'), headers.get('x-content-type-options'), body]).toEqual([
      `by-hand-${when}`,
      'nosniff',
      { unit: true },
    ]);
    expect(api.app.log.find((line) => line.request_id === `by-hand-${when}` && line.msg === 'request')).toMatchObject({
      route: '/hand/unit',
      status: 200,
    });
  });

  it('are there in every version, unless their path names one', async () => {
    for (const root of ['/api', '/api/v1', '/api/v2']) {
      expect((await api.get(`/${root}/hand`)).body).toMatchObject({ path: `${root}/hand`, route: '/api/hand' });
    }
    expect((await api.get('//api/v1/hand/first')).body.name).toBe('of version 1');
    expectError(await api.get('//api/v2/hand/first'), 'NOT_FOUND');
    expectError(await api.get('//api/hand/first'), 'NOT_FOUND');
    expectError(await api.delete('//api/v1/hand/first'), 'METHOD_NOT_ALLOWED');
  });

  it('see requests that go on to a controller', async () => {
    const seen = async (path: string) => {
      const { body, headers } = await api.get(path);
      expect(body.data).toEqual({ cups: [] });
      return headers.get('x-seen');
    };
    expect(await seen('//api/v1/cups')).toBe('use 1, use');
    expect(await seen('//api/v2/cups')).toBe('use, use 2');
    expect(await seen('//api/cups')).toBe('use');
  });

  it('may be added while the modules start', async () => {
    expect((await api.get('//api/v2/at-init')).body.name).toBe('at init');
    expectError(await api.get('//api/v1/at-init'), 'NOT_FOUND');
  });

  it('may be added later', async () => {
    const app = api.app.nest.getHttpAdapter().getInstance() as Express;
    app.get('/later', answer('later'));
    app.route('/later').post(answer('later, too'));
    app.use('/later/still', answer('later still'));

    expect((await api.get('//later')).body.name).toBe('later');
    expect((await api.post('//later')).body.name).toBe('later, too');
    expect((await api.get('//later/still')).body.name).toBe('later still');
    expectError(await api.delete('//later'), 'METHOD_NOT_ALLOWED');
  });
});

describe('Middleware that writes another path', () => {
  const api = useTestApi({
    imports: [CupsModule],
    prepare: (app) => {
      app.use(((request, _response, next) => {
        // Whoever looks at a query has Express parse it.
        const { short } = request.query;
        request.url = request.url.replace(/^\/old/, '/api/v2').replace(/\bshort\b/, 'size');
        request.url = request.url.replace('/api/v1/alive', '/health/live');
        if (short === 'er') request.url = '/api/v2/products';
        next();
      }) satisfies RequestHandler);
    },
  });

  it('leads to the route of that path and its version', async () => {
    expect((await api.get('//old/cups/by-name/glass')).body.data).toEqual({ name: 'glass' });
    expect((await api.get('//old/products?size=1')).body.pagination).toHaveProperty('next');
    expectError(await api.get('//old/nothing'), 'NOT_FOUND');
  });

  it('leads to the query of that path', async () => {
    expect((await api.get('//old/products?short=1')).body.pagination).toMatchObject({ size: 1 });
    expect((await api.get('//old/products?short=er')).status).toBe(200);
  });

  it('leads out of the API, where there is one media type', async () => {
    const { status, headers } = await api.get('/alive', { Accept: 'application/vnd.api+json;version=1' });
    expect([status, headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
  });
});

describe('Routes of the HTTP adapter', () => {
  const api = useTestApi({
    beforehand: (app) => {
      const adapter = app.getHttpAdapter();
      adapter.post('/adapter/failing', () => {
        throw new Error('A secret of the handler');
      });
      adapter.get(
        '/adapter',
        (_request: Request, response: Response) => void response.json({ name: 'of the adapter' }),
      );
    },
  });

  it('are routes of Express, too', async () => {
    expect((await api.get('//adapter')).body.name).toBe('of the adapter');
    expectError(await api.post('//adapter/failing'), 'INTERNAL_ERROR', { secret: 'A secret' });
  });
});

describe('app.param()', () => {
  const api = useTestApi({
    imports: [CupsModule],
    prepare: (app) => {
      const instance = app.getHttpAdapter().getInstance() as Express;
      instance.get('/params/:name', answer('by hand'));
      // The types know no list of names.
      (instance as unknown as { param(names: string[], callback: RequestParamHandler): void }).param(
        ['name'],
        (_request, response, next, value) => {
          response.appendHeader('X-Seen', value as string);
          next();
        },
      );
    },
  });

  it('is called for the routes of Express and of controllers', async () => {
    const seen = async (client: Client, path: string) => (await client.get(path)).headers.get('x-seen');

    expect(await seen(api, '//params/cup')).toBe('cup');
    expect(await seen(api, '/cups/by-name/glass')).toBe('glass');
    expect((await api.get('/cups')).body.data).toEqual({ cups: [] });
    expectError(await api.patch('/cups/by-name/glass'), 'METHOD_NOT_ALLOWED');
  });
});
