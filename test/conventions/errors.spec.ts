import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import {
  BadRequestException,
  Body,
  ConflictException,
  Controller,
  Get,
  HttpException,
  InternalServerErrorException,
  Module,
  NotFoundException,
  Param,
  Post,
  Res,
  ServiceUnavailableException,
  UnauthorizedException,
} from '@nestjs/common';
import type { Response } from 'express';
import { DataSource } from 'typeorm';
import { Public, Roles } from '../../src/platform/auth/access.decorators';
import { Role } from '../../src/platform/auth/caller';
import { ApiError } from '../../src/platform/errors/api-error';
import { IdParam } from '../../src/platform/input/id.pipe';
import { Text } from '../../src/platform/input/attributes';
import { createDatabase, dropDatabase } from '../support/databases';
import { expectError, expectErrorEnvelope, expectErrorHeaders, headerOf } from '../support/expectations';
import { RawConnection, sendRaw } from '../support/raw-http';
import { TestApi, type TestUser, times, useTestApi } from '../support/test-api';
import { TcpProxy } from '../support/tcp-proxy';
import { TestApp } from '../support/test-app';

const SECRET = 'correct-horse-battery-staple';

/** What a handler may throw or return that no client should get to see. */
const accidents: Record<string, () => unknown> = {
  'a string': () => raise(SECRET),
  null: () => raise(null),
  undefined: () => raise(undefined),
  'a number': () => raise(404),
  'an object': () => raise({ status: 404, message: SECRET, statusCode: 418 }),
  'a frozen object': () => raise(Object.freeze({ secret: SECRET })),
  'an object without a prototype': () => raise(Object.create(null)),
  'a function': () => raise(() => SECRET),
  'a symbol': () => raise(Symbol(SECRET)),
  'an Error': () => raise(new Error(SECRET)),
  'an Error with the status of a client error out of range': () =>
    raise(Object.assign(new Error(SECRET), { status: 99 })),
  'an Error with the status of a server error': () => raise(Object.assign(new Error(SECRET), { status: 502 })),
  'an address that cannot be decoded': () => decodeURIComponent('%'),
  'an HttpException with no status of an error': () => raise(new HttpException(SECRET, 200)),
  'an HttpException with no status at all': () => raise(new HttpException(SECRET, Number.NaN)),
  'an HttpException of the server': () => raise(new InternalServerErrorException(SECRET)),
  'a rejected promise': () => Promise.reject(new Error(SECRET)),
  'a rejection without a reason': () => Promise.resolve().then(() => raise(undefined)),
  'an endless recursion': () => recurse(),
  'a text that can be no part of a URL': () => encodeURIComponent('\ud800'),
  'a part of a URL that is no text': () => decodeURIComponent('%'),
  'an answer that is no JSON': () => ({ amount: 1n }),
  'an answer that contains itself': () => cycle(),
};

/** What a developer may throw on purpose, and the code that it becomes. */
const intended: Record<string, () => Error> = {
  NOT_FOUND: () => new NotFoundException('There is no such thing'),
  CONFLICT: () => new ConflictException('It is there already'),
  UNAUTHORIZED: () => new UnauthorizedException('Who are you?'),
  VALIDATION_ERROR: () => new BadRequestException('It makes no sense'),
  SERVICE_UNAVAILABLE: () => new ServiceUnavailableException('Out for lunch'),
  PRECONDITION_FAILED: () => new ApiError('PRECONDITION_FAILED'),
};

class NoteDto {
  @Text({ min: 1, max: 20 })
  text: string;
}

@Controller('accidents')
@Public()
class AccidentsController {
  @Get(':name')
  get(@Param('name') name: string): unknown {
    return accidents[name]();
  }
}

@Controller('failures')
@Public()
class FailuresController {
  constructor(private readonly database: DataSource) {}

  @Get('prepared')
  prepare(@Res({ passthrough: true }) response: Response): never {
    response.setHeader('ETag', '"1"').setHeader('Location', '/nowhere').setHeader('Link', '</>; rel="first"');
    response.setHeader('Content-Type', 'text/plain').status(201);
    throw new ConflictException();
  }

  @Get('sql/:state')
  sql(@Param('state') state: string): Promise<unknown> {
    return this.database.query(`DO $$ BEGIN RAISE 'about ${SECRET}' USING ERRCODE = '${state}'; END $$`);
  }

  @Get(':code')
  get(@Param('code') code: string): never {
    throw intended[code]();
  }
}

@Controller('notes')
@Roles(Role.ADMIN)
class NotesController {
  @Post(':id')
  create(@IdParam() id: number, @Body() note: NoteDto): object {
    return { id, ...note };
  }
}

@Module({ controllers: [AccidentsController, FailuresController, NotesController] })
class ErrorsModule {}

describe('an error', () => {
  const api = useTestApi({ imports: [ErrorsModule] });
  const request = (line: string, headers = '') =>
    sendRaw(api.app.port, `${line} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`);

  describe('of a handler', () => {
    it.each(Object.keys(accidents))('is a 500 that tells nothing: %s', async (name) => {
      expectError(await api.get(`/accidents/${encodeURIComponent(name)}`), 'INTERNAL_ERROR', { secret: SECRET });
    });

    it.each(Object.entries(intended))('has the code of what was thrown: %s', async (code, thrown) => {
      const error = expectError(await api.get(`/failures/${code}`), code);

      if (code === 'CONFLICT') expect(error).toMatchObject({ message: thrown().message, details: thrown().message });
      if (code === 'SERVICE_UNAVAILABLE') expect(JSON.stringify(error)).not.toContain(thrown().message);
    });

    it('takes nothing along that was meant for the success', async () => {
      const answer = await api.get('/failures/prepared');

      expectError(answer, 'CONFLICT');
      expect(['etag', 'location', 'link'].filter((name) => answer.headers.has(name))).toEqual([]);
    });

    it('says Request <id> in the details of a 5xx, and the id is that of the header', async () => {
      const answer = await api.get('/accidents/null', { 'X-Request-Id': 'mine.1' });

      expect(expectError(answer, 'INTERNAL_ERROR').details).toBe('Request mine.1');
      expect(answer.headers.get('x-request-id')).toBe('mine.1');
    });
  });

  describe('of the database', () => {
    it.each([
      ['22021', 'INTERNAL_ERROR'],
      ['42P01', 'INTERNAL_ERROR'],
      ['23505', 'CONFLICT'],
      ['23503', 'VALIDATION_ERROR'],
      ['23514', 'VALIDATION_ERROR'],
      ['40001', 'SERVICE_UNAVAILABLE'],
      ['40P01', 'SERVICE_UNAVAILABLE'],
      ['53300', 'SERVICE_UNAVAILABLE'],
      ['57014', 'SERVICE_UNAVAILABLE'],
      ['57P01', 'SERVICE_UNAVAILABLE'],
      ['08006', 'SERVICE_UNAVAILABLE'],
    ] as const)('with SQLSTATE %s is %s, without a word of its message', async (state, code) => {
      expectError(await api.get(`/failures/sql/${state}`), code, { secret: SECRET });
    });
  });

  describe('of the router', () => {
    it.each([
      '/',
      '/nothing',
      '/api',
      '/api/',
      '/api/v1',
      '/api/v1/',
      '/api/v1/nothing',
      '/api/v0/users',
      '/api/v1/users/1/2/3',
      '//',
      '///',
      '//api/v1/users',
      '/api//v1/users',
      '/api/v1//users',
      '//evil.example/%2e%2e',
      '/%2F',
      '/%2e%2e/%2e%2e/etc/passwd',
      '/../../etc/passwd',
      '/api/v1%2Fusers',
      '/\\',
      '/\\..\\..\\etc',
      '/api\\v1\\users',
      '/%',
      '/%zz',
      '/%ff',
      '/%00',
      '/api/v1/%c0%af',
      '/docs/%zz',
      '/docs/%00',
      '/docs/..%2f..%2fpackage.json',
      '/docs/nothing.js',
      '/health',
      '/.well-known/',
      '/favicon.ico',
      '/;',
      '/?',
      '/?a=%zz',
      '/nothing?a=1&a=1',
      '/nothing#fragment',
      'http://example.com/nothing',
    ])('is a 404 at %s', async (path) => {
      expectError(await request(`GET ${path}`), 'NOT_FOUND');
    });

    it.each(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'PURGE', 'QUERY'])(
      'is a 404 for %s of an unknown path',
      async (method) => {
        const answer = await request(`${method} /nothing`);

        if (method === 'HEAD') expectErrorHeaders(answer);
        else expectError(answer, 'NOT_FOUND');
        expect(answer).toMatchObject({ status: 404, ...(method === 'HEAD' && { text: '' }) });
      },
    );

    it.each(['/api/v1/accidents/%', '/api/v1/accidents/%zz', '/api/v1/accidents/%ff', '/api/v1/accidents/%c0%af'])(
      'is a 400 for malformed percent-encoding in %s',
      async (path) => {
        expectError(await request(`GET ${path}`), 'VALIDATION_ERROR', { fields: { path: 'encoding' } });
      },
    );

    it.each([
      ['PATCH', '/api/v1/users', 'GET, HEAD, POST, OPTIONS'],
      ['DELETE', '/api/v1/users', 'GET, HEAD, POST, OPTIONS'],
      ['TRACE', '/api/v1/users', 'GET, HEAD, POST, OPTIONS'],
      ['PROPFIND', '/api/v1/users', 'GET, HEAD, POST, OPTIONS'],
      ['POST', '/api/v1/users/1', 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS'],
      ['GET', '/api/v1/auth/tokens', 'POST, PUT, DELETE, OPTIONS'],
      ['POST', '/api/v1/public', 'GET, HEAD, OPTIONS'],
      ['POST', '/health/live', 'GET, HEAD, OPTIONS'],
      ['DELETE', '/.well-known/jwks.json', 'GET, HEAD, OPTIONS'],
    ])('is a 405 with Allow for %s %s', async (method, path, allow) => {
      const answer = await request(`${method} ${path}`);

      expectError(answer, 'METHOD_NOT_ALLOWED');
      expect(headerOf(answer, 'allow')).toBe(allow);
    });

    it('has the same headers, and no body, in the answer to HEAD', async () => {
      const toGet = await request('GET /api/v1/users');
      const toHead = await request('HEAD /api/v1/users');

      expectErrorHeaders(toHead);
      expect(toHead).toMatchObject({ status: 401, text: '' });
      expect(headerOf(toHead, 'content-length')).toBe(headerOf(toGet, 'content-length'));
    });

    it('comes once, and the connection goes on', async () => {
      const connection = await RawConnection.open(api.app.port);
      const bad = ['/nothing', '/api/v1/users', '/api/v1/accidents/%', '/api/v1/accidents/null'];

      connection.write([...bad, '/api/v1/public'].map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`).join(''));
      const answers = await connection.answers(5);
      connection.destroy();

      expect(answers.map(({ status }) => status)).toEqual([404, 401, 400, 500, 200]);
    });
  });

  describe('of several that a request deserves', () => {
    let user: TestUser;
    let admin: TestUser;

    beforeAll(async () => {
      user = await api.user();
      admin = await api.admin();
    });

    const mistakes: [name: string, path: string, body: string, type?: string][] = [
      ['malformed JSON', '/notes/1', '{"text":'],
      ['a broken rule', '/notes/1', '{"text":""}'],
      ['an unknown attribute', '/notes/1', '{"text":"a","more":1}'],
      ['a bad id', '/notes/1e3', '{"text":"a"}'],
      ['an unknown parameter', '/notes/1?more=1', '{"text":"a"}'],
      ['a repeated parameter', '/notes/1?a=1&a=1', '{"text":"a"}'],
      ['malformed percent-encoding in the query', '/notes/1?%zz', '{"text":"a"}'],
      ['another media type', '/notes/1', 'text=a', 'application/x-www-form-urlencoded'],
      ['a body that is too large', '/notes/1', ' '.repeat(2 ** 20 + 1)],
    ];

    it.each(mistakes)('is 401 before %s', async (_name, path, body, type = 'application/json') => {
      expectError(await api.post(path, body, { 'Content-Type': type }), 'UNAUTHORIZED');
      const answer = await api.with({ Authorization: 'Bearer nonsense' }).post(path, body, { 'Content-Type': type });
      expectError(answer, 'UNAUTHORIZED');
      expect(answer.headers.get('www-authenticate')).toContain('error="invalid_token"');
    });

    it.each(mistakes)('is 403 by role before %s', async (_name, path, body, type = 'application/json') => {
      expectError(await api.as(user).post(path, body, { 'Content-Type': type }), 'FORBIDDEN');
    });

    it.each(mistakes)('is found at last: %s', async (_name, path, body, type = 'application/json') => {
      const answer = await api.as(admin).post(path, body, { 'Content-Type': type });

      expect([400, 413, 415]).toContain(answer.status);
      expectErrorEnvelope(answer);
    });

    it.each(['/users/0', '/users/1e3', '/users?page=-1', '/users/profile?more=1'])(
      'is 401 before 400 at %s',
      async (path) => {
        expectError(await api.get(path), 'UNAUTHORIZED');
        expectError(await api.as(user).get(path), 'VALIDATION_ERROR');
      },
    );

    it('is 400 before 404, and 404 before 403 by ownership', async () => {
      expectError(await api.as(user).patch('/users/999999', { username: '' }), 'VALIDATION_ERROR');
      expectError(await api.as(user).patch('/users/999999', { username: 'somebody' }), 'USER_NOT_FOUND');
      expectError(await api.as(user).patch(`/users/${admin.id}`, { username: 'somebody' }), 'FORBIDDEN');
    });
  });
});

/** What a handler may do after its request was given up. */
const endings: Record<string, (response: Response) => unknown> = {
  'throws an Error': () => raise(new Error(SECRET)),
  'throws nothing': () => raise(undefined),
  'throws an error of the client': () => raise(new NotFoundException()),
  'returns a value': () => ({ late: true }),
  'sets a header': (response) => response.setHeader('X-Late', 'yes'),
};
const clock = new EventEmitter();

@Controller('slow')
@Public()
class SlowController {
  @Get(':ending')
  async get(@Param('ending') ending: string, @Res({ passthrough: true }) response: Response): Promise<unknown> {
    await once(clock, 'late');
    return endings[ending](response);
  }
}

@Module({ controllers: [SlowController] })
class SlowModule {}

describe('a handler that takes too long', () => {
  const api = useTestApi({ imports: [SlowModule], settings: { REQUEST_TIMEOUT: '1000' } });

  it.each(Object.keys(endings))('is answered 503, once, whatever it does later: %s', async (ending) => {
    const connection = await RawConnection.open(api.app.port);
    const id = randomUUID();
    const get = (path: string) => connection.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nX-Request-Id: ${id}\r\n\r\n`);

    get(`/api/v1/slow/${encodeURIComponent(ending)}`);
    expectError(await connection.answer(), 'SERVICE_UNAVAILABLE', { secret: SECRET });
    clock.emit('late');
    get('/api/v1/public');
    get('/nothing');
    const answers = await connection.answers(3);
    connection.destroy();

    expect(answers.map(({ status }) => status)).toEqual([503, 200, 404]);
    expect(headerOf(answers[0], 'x-late')).toBeUndefined();
    // What comes too late is no news, unless it went wrong.
    const wrong = api.app.log.filter(({ request_id, err }) => request_id === id && err);
    expect(wrong).toHaveLength(/^returns|client$/.test(ending) ? 0 : 1);
  });
});

describe('a database that is away', () => {
  const api = new TestApi();
  const proxy = new TcpProxy();
  const name = `${process.env.TEST_DATABASE_PREFIX}_away_${process.pid}`;

  beforeAll(async () => {
    const url = await createDatabase(
      process.env.TEST_SERVER_URL!,
      name,
      `${process.env.TEST_DATABASE_PREFIX}_template`,
    );
    api.app = await TestApp.start({ databaseUrl: await proxy.start(url) });
  });

  afterAll(async () => {
    await api.app?.stop();
    proxy.stop();
    await dropDatabase(process.env.TEST_SERVER_URL!, name);
  });

  it('is a 503 with Retry-After while it lasts, and nothing when it is over', async () => {
    const user = await api.user();
    const read = () => api.as(user).get('/users/profile');
    expect(await read()).toMatchObject({ status: 200 });

    proxy.refuse();
    const answers = await Promise.all(times(5, read));
    const ready = await api.get('//health/ready');
    proxy.accept();

    answers.forEach((answer) => expectError(answer, 'SERVICE_UNAVAILABLE'));
    expectError(ready, 'SERVICE_UNAVAILABLE');
    expect(await read()).toMatchObject({ status: 200 });
  });
});

function raise(thrown: unknown): never {
  throw thrown;
}

function recurse(): unknown {
  return [recurse()];
}

function cycle(): object {
  const node: { self?: object } = {};
  node.self = node;
  return node;
}
