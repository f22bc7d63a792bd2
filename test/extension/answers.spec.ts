import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  Body,
  type CallHandler,
  Controller,
  type ExecutionContext,
  Get,
  Header,
  HttpCode,
  type INestApplication,
  Injectable,
  Module,
  type NestInterceptor,
  Param,
  Post,
  Redirect,
  Render,
  Res,
  Sse,
  StreamableFile,
  type Type,
  UseInterceptors,
} from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { NextFunction, Request, Response } from 'express';
import { from, map, type Observable, of } from 'rxjs';
import { Creates, Idempotent, ProducedType, Produces, Public, ResourceDto, Verbatim } from '../../src/platform';
import { expectError } from '../support/expectations';
import { TestApp } from '../support/test-app';
import { useTestApi } from '../support/test-api';

class Point {
  constructor(
    readonly x: number,
    private readonly y: number,
  ) {}

  toJSON(): object {
    return { x: this.x, y: this.y };
  }
}

function* numbers(): Generator<number> {
  yield 1;
}

async function* lines(): AsyncGenerator<object> {
  yield await Promise.resolve({ line: 1 });
  yield { line: 2 };
}

const cyclic: { self?: object } = {};
cyclic.self = cyclic;

/** What a handler may return, and the `data` of the envelope. */
const values: Record<string, [value: () => unknown, data: unknown]> = {
  'a number': [() => 5, 5],
  zero: [() => 0, 0],
  true: [() => true, true],
  false: [() => false, false],
  null: [() => null, null],
  'a list': [() => [1, 'a', null], [1, 'a', null]],
  'an empty list': [() => [], []],
  'a date': [() => new Date(0), '1970-01-01T00:00:00.000Z'],
  'an instance of a class': [() => new Point(1, 2), { x: 1, y: 2 }],
  'an Observable': [() => of({ a: 1 }), { a: 1 }],
  'an Observable of several values': [() => from([1, 2, 3]), 3],
  'a promise': [() => Promise.resolve(7), 7],
  'an object with data and other attributes': [
    () => ({ data: [], pagination: 'none' }),
    { data: [], pagination: 'none' },
  ],
};

/** What JSON has no form for, and what the log tells to return instead. */
const oddities: Record<string, [value: () => unknown, way: string]> = {
  'a bigint': [() => 5n, 'return a number or a text'],
  'an object with a bigint': [() => ({ a: 5n }), 'return numbers and texts'],
  'an object that holds itself': [() => cyclic, 'return numbers and texts'],
  'a Map': [() => new Map([['a', 1]]), 'return Object.fromEntries(map)'],
  'a Set': [() => new Set([1]), 'return Array.from() of it'],
  'a generator': [() => numbers(), 'return Array.from() of it'],
  'a Buffer': [() => Buffer.from('abc'), 'return new StreamableFile(bytes)'],
  'a typed array': [() => new Uint8Array(3), 'return new StreamableFile(bytes)'],
  'a function': [() => numbers, 'return what it stands for'],
  'an error': [() => new Error('x'), 'throw it'],
};

@Controller('values')
@Public()
class ValuesController {
  @Get('text')
  text(): string {
    return '<b>text</b>';
  }

  @Get('empty-text')
  emptyText(): string {
    return '';
  }

  @Get('typed')
  @Header('Content-Type', 'text/html; charset=utf-8')
  @Header('Content-Security-Policy', "default-src 'self'")
  typed(): string {
    return '<b>page</b>';
  }

  @Get('nothing')
  nothing(): void {}

  @Get('lines')
  lines(): AsyncGenerator<object> {
    return lines();
  }

  @Get('verbatim')
  verbatim(): Verbatim {
    return new Verbatim({ own: 'form' });
  }

  @Get('file')
  @Header('Content-Disposition', 'attachment; filename="a.txt"')
  file(): StreamableFile {
    return new StreamableFile(Buffer.from('abc'), { type: 'text/plain' });
  }

  @Sse('events')
  events(): unknown {
    return of({ data: { hello: 'world' } });
  }

  @Get('moved')
  @Redirect('/api/v1/products', 301)
  moved(): void {}

  @Get('by-hand')
  byHand(@Res() response: Response): void {
    response.status(202).json({ html: '<b>' });
  }

  @Get('formatted')
  formatted(@Res() response: Response): void {
    response.format({ 'text/plain': () => response.send('hey'), 'text/html': () => response.send('<p>hey</p>') });
  }

  @Get('csv')
  @Header('Content-Type', 'text/csv; charset=utf-8')
  csv(): string {
    return 'a,b\n';
  }

  @Get('passed-through')
  @HttpCode(203)
  @Header('X-Own', 'header')
  passed(@Res({ passthrough: true }) response: Response): object {
    response.cookie('a', 'b', { httpOnly: true });
    return { a: 1 };
  }

  @Get('either')
  @Produces('application/json', 'text/csv')
  either(@ProducedType() type: string): unknown {
    return type === 'text/csv' ? 'a,b\n1,2\n' : [{ a: 1, b: 2 }];
  }

  @Get('odd/:name')
  odd(@Param('name') name: string): unknown {
    return oddities[name][0]();
  }

  @Get('status/:code')
  status(@Param('code') code: string, @Res({ passthrough: true }) response: Response): unknown {
    response.status(Number(code));
    return null;
  }

  @Get('text-with/:code')
  textWith(@Param('code') code: string, @Res({ passthrough: true }) response: Response): string {
    response.status(Number(code));
    return 'a text';
  }

  @Get(':name')
  get(@Param('name') name: string): unknown {
    return values[name][0]();
  }

  @Post(':name')
  @Idempotent()
  post(@Param('name') name: string): unknown {
    return name in values ? values[name][0]() : name === 'nothing' ? undefined : 'a text';
  }
}

class ThingDto extends ResourceDto {}

/** Plain Nest, where nothing says what is created. */
@Controller()
@Public()
class ActionsController {
  @Post('pay')
  pay(): object {
    return { id: 77 };
  }

  @Post('things/:id/approve')
  approve(@Param('id') id: string): object {
    return { id: Number(id) };
  }

  @Post('things/import')
  import(): object[] {
    return [{ id: 1 }];
  }

  @Post('things')
  create(@Body() body: { id: string | number }): object {
    return body;
  }

  @Post('things/:id/copies')
  @HttpCode(200)
  copy(): object {
    return { id: 9 };
  }

  @Get('things/:id')
  get(@Param('id') id: string): object {
    return { id };
  }

  @Post('things/:id/parts')
  @Creates(ThingDto)
  createPart(): object {
    return { id: 5 };
  }

  @Get('things/:id/parts/:part')
  getPart(@Param('part') id: string): object {
    return { id };
  }
}

/** As Nest's documentation has it. */
@Injectable()
class TransformInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(map((data: unknown) => ({ data })));
  }
}

@Controller('wrapped')
@Public()
@UseInterceptors(TransformInterceptor)
class WrappedController {
  @Get()
  list(): object[] {
    return [];
  }

  @Get(':id')
  get(@Param('id') id: string): object {
    return { id };
  }

  @Post()
  create(): object {
    return { id: 1 };
  }
}

@Module({ controllers: [ValuesController, ActionsController, WrappedController] })
class ValuesModule {}

describe('What a handler returns', () => {
  const api = useTestApi({ imports: [ValuesModule] });
  const path = (name: string) => `/values/${encodeURIComponent(name)}`;

  it.each(Object.entries(values))('is in the envelope: %s', async (name, [, data]) => {
    const get = await api.get(path(name));
    const post = await api.post(path(name), undefined, { 'Idempotency-Key': name });
    const again = await api.post(path(name), undefined, { 'Idempotency-Key': name });

    expect([get.status, get.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
    expect(get.body).toEqual({ code: 200, message: 'OK', data, timestamp: expect.any(Number) });
    expect(post.body).toEqual({ code: 201, message: 'Created', data, timestamp: expect.any(Number) });
    expect([again.status, again.text]).toEqual([201, post.text]);
  });

  it.each(Object.entries(oddities))('is a 500 that says what to return, if it is %s', async (name, [, way]) => {
    const answer = await api.get(`/values/odd/${encodeURIComponent(name)}`);

    expectError(answer, 'INTERNAL_ERROR');
    const { err } = api.app.log.filter((line) => line.msg === 'An internal error occurred').at(-1) as {
      err: { message: string };
    };
    expect(err.message).toContain("GET /api/values/odd/:name can't be answered: its handler returned");
    expect(err.message).toContain(way);
  });

  it('is the text itself, as text that no browser takes for a page', async () => {
    for (const [route, text] of [
      ['text', '<b>text</b>'],
      ['empty-text', ''],
    ]) {
      const { headers, text: received } = await api.get(`/values/${route}`);
      expect([received, headers.get('content-type')]).toEqual([text, 'text/plain; charset=utf-8']);
    }
    const key = { 'Idempotency-Key': 'text' };
    const [first, again] = [await api.post('/values/x', undefined, key), await api.post('/values/x', undefined, key)];
    expect([first, again].map(({ text, headers }) => [text, headers.get('content-type')])).toEqual(
      Array(2).fill(['a text', 'text/plain; charset=utf-8']),
    );
  });

  it('is a text of the type that its route says, with the policy that its route says', async () => {
    const { headers, text } = await api.get('/values/typed');

    expect([text, headers.get('content-type')]).toEqual(['<b>page</b>', 'text/html; charset=utf-8']);
    expect(headers.get('content-security-policy')).toBe("default-src 'self'");
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });

  it('is no body at all if it is nothing, with the status of the route', async () => {
    const get = await api.get('/values/nothing');
    const key = { 'Idempotency-Key': 'nothing' };
    const post = await api.post('/values/nothing', undefined, key);
    const again = await api.post('/values/nothing', undefined, key);

    expect([get, post, again].map(({ status, text }) => [status, text])).toEqual([
      [200, ''],
      [201, ''],
      [201, ''],
    ]);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(get.headers.has('content-type')).toBe(false);
  });

  it.each(['status/204', 'status/304', 'text-with/204', 'text-with/304'])(
    'is no body with such a status, whatever it is: %s',
    async (route) => {
      const answer = await api.get(`/values/${route}`);

      expect([answer.status, answer.text]).toEqual([Number(route.slice(-3)), '']);
      expect(['content-type', 'content-length'].filter((name) => answer.headers.has(name))).toEqual([]);
    },
  );

  it('is sent line by line if it is an async generator', async () => {
    const response = await fetch(`${api.url}/api/v1/values/lines`);

    expect([await response.text(), response.headers.get('content-type')]).toEqual([
      '{"line":1}\n{"line":2}\n',
      'application/x-ndjson',
    ]);
  });

  it('is an own form, a file, an event, a redirect, or what the handler sends itself', async () => {
    expect((await api.get('/values/verbatim')).body).toEqual({ own: 'form' });
    const file = await api.get('/values/file');
    expect([file.text, file.headers.get('content-disposition')]).toEqual(['abc', 'attachment; filename="a.txt"']);
    expect((await api.get('/values/events')).text).toContain('data: {"hello":"world"}');
    const moved = await api.get('/values/moved');
    expect([moved.status, moved.headers.get('location')]).toEqual([301, '/api/v1/products']);
    const byHand = await api.get('/values/by-hand');
    expect([byHand.status, byHand.text]).toEqual([202, '{"html":"\\u003cb\\u003e"}']);
    const passed = await api.get('/values/passed-through');
    expect([passed.status, passed.body.data]).toEqual([203, { a: 1 }]);
    expect([passed.headers.get('set-cookie'), passed.headers.get('x-own')]).toEqual([
      'a=b; Path=/; HttpOnly',
      'header',
    ]);
  });

  it.each([
    [undefined, 'json'],
    ['*/*', 'json'],
    ['application/json', 'json'],
    ['application/vnd.api+json;version=1', 'json'],
    ['text/csv', 'csv'],
    ['text/csv, application/json;q=0.5', 'csv'],
    ['application/json, text/csv;q=0.5', 'json'],
    ['image/png', undefined],
  ])('is in the one of several media types that Accept prefers: %s', async (accept, kind) => {
    const answer = await api.get('/values/either', { Accept: accept ?? '*/*' });

    if (!kind) expect(expectError(answer, 'NOT_ACCEPTABLE').details).toContain('application/json, text/csv');
    else if (kind === 'json') expect(answer.body.data).toEqual([{ a: 1, b: 2 }]);
    else expect([answer.text, answer.headers.get('content-type')]).toEqual(['a,b\n1,2\n', 'text/csv; charset=utf-8']);
    expect(answer.headers.get('vary')).toContain('Accept');
  });
});

describe('Without @Produces(), Accept', () => {
  const api = useTestApi({ imports: [ValuesModule] });

  it.each([
    ['events', 'text/event-stream', 'text/event-stream', 'data: {"hello":"world"}'],
    ['formatted', 'text/html', 'text/html; charset=utf-8', '<p>hey</p>'],
    ['formatted', 'text/plain', 'text/plain; charset=utf-8', 'hey'],
    ['csv', 'text/csv', 'text/csv; charset=utf-8', 'a,b\n'],
    ['csv', 'application/json', 'text/csv; charset=utf-8', 'a,b\n'],
  ])('may name what Nest says of the route: %s, %s', async (path, Accept, type, text) => {
    for (const root of ['/', '//api/']) {
      const answer = await api.get(`${root}values/${path}`, { Accept });

      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, type]);
      expect(answer.text).toContain(text);
    }
  });

  it.each([
    ['events', 'image/png', 'text/event-stream'],
    ['csv', 'text/event-stream', 'text/csv'],
    ['text', 'text/event-stream', 'application/json'],
    ['passed-through', 'text/csv', 'application/json'],
  ])('is 406 for other media types: %s, %s', async (path, Accept, details) => {
    expect(expectError(await api.get(`/values/${path}`, { Accept }), 'NOT_ACCEPTABLE').details).toContain(details);
  });
});

describe('Location', () => {
  const api = useTestApi({ imports: [ValuesModule] });

  it.each([
    ['pay', undefined, 201],
    ['things/7/approve', undefined, 201],
    ['things/import', undefined, 201],
    ['things/7/copies', undefined, 200],
    ['wrapped', undefined, 201],
  ])('is not there where nothing was created that could be read: POST /%s', async (path, body, status) => {
    const answer = await api.post(`/${path}`, body);

    expect(answer.status).toBe(status);
    expect(answer.headers.has('location')).toBe(false);
  });

  it.each([
    ['things', 7, '/api/v1/things/7'],
    ['things', 'a b/c', '/api/v1/things/a%20b%2Fc'],
    ['things/7/parts', 5, '/api/v1/things/7/parts/5'],
  ])('leads to what POST /%s has created with the id %s', async (path, id, place) => {
    const answer = await api.post(`/${path}`, path === 'things' ? { id } : undefined);

    expect(answer.headers.get('location')).toBe(place);
    expect((await api.get(`/${place}`)).body.data).toEqual({ id: String(id) });
    const unversioned = await api.post(`//api/${path}`, path === 'things' ? { id } : undefined);
    expect(unversioned.headers.get('location')).toBe(place.replace('/v1', ''));
  });
});

describe('Middleware that wraps res.json() or res.send()', () => {
  const sent: [kind: string, body: unknown][] = [];
  const wrap = (_request: Request, response: Response, next: NextFunction) => {
    const [json, send] = [response.json.bind(response), response.send.bind(response)];
    response.json = (body: { data?: { a?: number } }) => {
      sent.push(['json', body]);
      return json(body.data?.a ? { ...body, data: { a: body.data.a + 1 } } : body);
    };
    response.send = (body: unknown) => {
      sent.push(['send', body]);
      return send(body);
    };
    next();
  };
  const api = useTestApi({ imports: [ValuesModule], prepare: (app: INestApplication) => void app.use(wrap) });

  beforeEach(() => sent.splice(0));

  it('is called for what handlers return, and may change it', async () => {
    const answer = await api.get('/values/passed-through', { 'Accept-Encoding': 'gzip' });

    expect(answer.body).toEqual({
      code: 203,
      message: expect.any(String),
      data: { a: 2 },
      timestamp: expect.any(Number),
    });
    expect(sent[0]).toEqual(['json', { ...answer.body, data: { a: 1 } }]);
    expect(sent[1][0]).toBe('send');
    expect(answer.headers.get('content-length')).toBe(String(answer.text.length));
  });

  it('is called for lists, items and texts of the service, which keep their headers', async () => {
    const admin = api.as(await api.admin());
    const created = await admin.post('/products', { name: '<b>', price: 1 }, { 'Idempotency-Key': 'a' });
    const again = await admin.post('/products', { name: '<b>', price: 1 }, { 'Idempotency-Key': 'a' });
    const list = await api.get('/products?size=1');

    expect([created.status, created.headers.get('etag'), created.headers.get('location')]).toEqual([
      201,
      '"1"',
      `/api/v1/products/${created.body.data.id}`,
    ]);
    expect(created.text).toContain('\\u003cb\\u003e');
    expect([again.body, again.headers.get('idempotent-replayed')]).toEqual([created.body, 'true']);
    expect(list.headers.get('link')).toContain('rel="first"');
    expect(sent.filter(([kind]) => kind === 'json').map(([, body]) => body)).toEqual(
      [created, again, list].map(({ body }) => body),
    );
    await api.get('/values/text');
    expect(sent.at(-1)).toEqual(['send', '<b>text</b>']);
  });

  it('is called for errors that are thrown', async () => {
    const { body } = await api.get('/products/999');

    expect(sent[0]).toEqual(['json', body]);
  });
});

async function refusalOf(controller: Type, prepare?: (app: INestApplication) => void): Promise<string> {
  @Module({ controllers: [controller] })
  class RefusedModule {}
  const app = await TestApp.start({ imports: [RefusedModule], prepare }).catch((error: Error) => error);
  if (app instanceof Error) return app.message;
  await app.stop();
  return '';
}

describe('The start', () => {
  it('is refused for a view without an engine, and says the ways out', async () => {
    @Controller('pages')
    @Public()
    class PagesController {
      @Get()
      @Render('index')
      index(): object {
        return {};
      }
    }
    const refusal = await refusalOf(PagesController);

    expect(refusal).toContain('GET pages (PagesController.index)');
    expect(refusal).toContain('app.setViewEngine()');
  });

  it.each([
    [
      '@Res()',
      (): Type => {
        @Controller('kept')
        @Public()
        class KeptController {
          @Post()
          @Creates(ThingDto)
          create(@Res() response: Response): void {
            response.json({});
          }
        }
        return KeptController;
      },
    ],
    [
      '@Redirect()',
      (): Type => {
        @Controller('kept')
        @Public()
        class KeptController {
          @Post()
          @Idempotent()
          @Redirect('/')
          create(): void {}
        }
        return KeptController;
      },
    ],
  ])('is refused for an Idempotency-Key whose answer nobody could keep: %s', async (_name, make) => {
    const refusal = await refusalOf(make());

    expect(refusal).toContain('POST kept (KeptController.create)');
    expect(refusal).toContain('@Res({ passthrough: true })');
  });

  it('says which routes refuse an Idempotency-Key though they answer 201, and by which decorator they take one', async () => {
    @Module({ controllers: [ActionsController] })
    class ActionsModule {}
    const app = await TestApp.start({ imports: [ActionsModule] });
    const lines = app.log.map(({ msg }) => String(msg)).filter((line) => line.includes('refuse an Idempotency-Key'));
    await app.stop();

    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('POST pay (ActionsController.pay)');
    expect(lines[0]).toContain('@Creates(Dto)');
    expect(lines[0]).not.toMatch(/createPart|copy|Products|Tokens|Uploads/);
  });
});

describe('A view', () => {
  let views: string;
  @Controller('pages')
  @Public()
  class PagesController {
    @Get()
    @Render('index')
    @Header('Content-Security-Policy', "default-src 'none'; style-src 'self'")
    index(): object {
      return { name: 'Ada' };
    }
  }
  @Module({ controllers: [PagesController] })
  class PagesModule {}

  beforeAll(async () => {
    views = await mkdtemp(join(tmpdir(), 'views-'));
    await writeFile(join(views, 'index.page'), 'Hello {name}');
  });
  afterAll(() => rm(views, { recursive: true }));

  it('is rendered by the engine that the application sets, with the policy of its route', async () => {
    const prepare = (app: INestApplication) => {
      const express = app as NestExpressApplication;
      express.engine(
        'page',
        (_path: string, { name }: { name: string }, done: (error: unknown, page: string) => void) =>
          done(null, `<p>Hello ${name}</p>`),
      );
      express.setBaseViewsDir(views);
      express.setViewEngine('page');
    };
    const app = await TestApp.start({ imports: [PagesModule], prepare });
    const response = await fetch(`http://127.0.0.1:${app.port}/api/v1/pages`);
    const page = await response.text();
    await app.stop();

    expect([page, response.headers.get('content-type')]).toEqual(['<p>Hello Ada</p>', 'text/html; charset=utf-8']);
    expect(response.headers.get('content-security-policy')).toBe("default-src 'none'; style-src 'self'");
  });
});
