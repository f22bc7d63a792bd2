import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { Body, Controller, Get, Module, Post } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Public } from '../../src/platform/auth/access.decorators';
import { Text } from '../../src/platform/input/attributes';
import { headerOf, RawConnection, sendRaw, times, waitFor } from '../../src/platform/testing';
import { User } from '../../src/resources/users/user.entity';
import { type TestUser, useTestApi } from '../support/test-api';

const SECRET = 'open-sesame-4242';
const EMAIL = 'scheherazade@example.com';
const started = new EventEmitter();

class SecretDto {
  @Text({ max: 1000 })
  secret: string;
}

/** Statements that fail in ways in which PostgreSQL and TypeORM repeat what was written. */
const statements: Record<string, string> = {
  'a number': 'SELECT $1::int',
  'a large number': "SELECT (regexp_replace($1, '\\D', '', 'g') || repeat('9', 30))::bigint",
  'a date': 'SELECT $1::timestamptz',
  'a list': 'SELECT $1::int[]',
  'a document': 'SELECT $1::json',
  'a regular expression': "SELECT 'a' ~ ('(' || $1)",
  'a row that breaks a rule': `INSERT INTO users (username, username_key, email, email_key, password_hash, status)
     VALUES ($1, $1, $1, $1, $1, 'GONE')`,
  'a row without a name': 'INSERT INTO users (email, email_key, username_key) VALUES ($1, $1, $1)',
  'a name that is too long': 'UPDATE users SET username = repeat($1, 10) WHERE $1 = $1',
  'a table': 'SELECT $1::text FROM nowhere',
};

@Controller('trouble')
@Public()
class TroubleController {
  constructor(private readonly database: DataSource) {}

  @Post()
  async create(@Body() { secret }: SecretDto): Promise<object[]> {
    const [kind, value] = secret.split('|');
    return this.database.query(statements[kind], [value]);
  }

  @Post('thrown')
  raise(@Body() { secret }: SecretDto): never {
    const thrown: unknown = secret.startsWith('text')
      ? secret
      : Object.assign(new Error(secret), { parameters: [SECRET] });
    throw thrown;
  }

  @Get('waiting')
  async wait(): Promise<void> {
    started.emit('waiting');
    await once(started, 'never');
  }
}

@Module({ controllers: [TroubleController] })
class TroubleModule {}

describe('the log', () => {
  const api = useTestApi({ imports: [TroubleModule] });
  let ada: TestUser;

  beforeAll(async () => {
    ada = await api.user({ email: EMAIL });
  });

  /** The lines about requests with this id, as soon as there is one. */
  async function linesOf(requestId: string) {
    const lines = () => api.app.log.filter(({ msg, request_id }) => msg === 'request' && request_id === requestId);
    await waitFor(() => lines().length > 0);
    return lines();
  }

  describe('of requests', () => {
    it.each([
      ['GET', '/users', '/api/users', 200],
      ['GET', '/users/profile', '/api/users/profile', 200],
      ['GET', '/users/4711', '/api/users/:id', 404],
      ['GET', '/users/abc', '/api/users/:id', 400],
      ['HEAD', '/users', '/api/users', 200],
      ['PATCH', '/users/4711', '/api/users/:id', 404],
      ['POST', '/users', '/api/users', 400],
      ['GET', '/nothing', null, 404],
      ['OPTIONS', '/users', null, 204],
      ['DELETE', '/users', null, 405],
      ['GET', '//health/live', '/health/live', 200],
      ['GET', '//nothing', null, 404],
      ['GET', '//', null, 200],
    ])('has one line for %s %s', async (method, path, route, status) => {
      const id = randomUUID();
      await api.as(ada).send(method, path, undefined, { 'X-Request-Id': id });

      expect(await linesOf(id)).toEqual([
        {
          level: 30,
          time: expect.any(Number),
          pid: process.pid,
          hostname: expect.any(String),
          request_id: id,
          method,
          route,
          ...(path.startsWith('//') ? {} : { version: 1 }),
          status,
          ms: expect.any(Number),
          // OPTIONS tells what its caller may do.
          user_id: route?.startsWith('/api/users') || method === 'OPTIONS' ? ada.id : null,
          address: '127.0.0.1',
          ...(path.endsWith('/4711') && { target: { id: 4711 } }),
          msg: 'request',
        },
      ]);
    });

    it.each([
      ['/users/12/posts/34', { userId: 12, postId: 34 }],
      ['/users/12/posts/x', { userId: 12 }],
      ['/users/1e3', undefined],
      ['/uploads/AA345678-90ab-cdef-1234-567890abcdef', { key: 'aa345678-90ab-cdef-1234-567890abcdef' }],
      ['/uploads/scheherazade@example.com', undefined],
    ])('names the ids and keys of %s, and nothing else of it', async (path, target) => {
      const id = randomUUID();
      await api.as(ada).get(path, { 'X-Request-Id': id });

      const [line] = await linesOf(id);
      expect(line.target).toEqual(target);
      expect(JSON.stringify(line)).not.toContain('scheherazade');
    });

    it('names no user where nobody proved who asks', async () => {
      const id = randomUUID();
      await api.get('/users', { 'X-Request-Id': id, Authorization: `Bearer ${ada.token}x` });

      expect(await linesOf(id)).toMatchObject([{ status: 401, user_id: null, route: '/api/users' }]);
    });

    it('has as many lines as there were requests', async () => {
      const ids = times(50, () => randomUUID());
      await Promise.all(ids.map((id) => api.get('/users', { 'X-Request-Id': id })));

      const lines = (await Promise.all(ids.map(linesOf))).flat();
      expect(lines.map(({ request_id }) => request_id).sort()).toEqual(ids.sort());
    });

    it('tells how long a request took, in milliseconds', async () => {
      const id = randomUUID();
      const start = performance.now();
      await api.post('/auth/tokens', { username: randomUUID(), password: 'wrong' }, { 'X-Request-Id': id });
      const [{ ms }] = await linesOf(id);

      expect(ms).toBeGreaterThan(1);
      expect(ms).toBeLessThanOrEqual(performance.now() - start);
    });

    it('has a line for what the parser refused, with the id of the answer', async () => {
      const refusals = [
        'nonsense\r\n\r\n',
        'FOO / HTTP/1.1\r\nHost: x\r\n\r\n',
        'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n',
      ];

      for (const data of refusals) {
        const answer = await sendRaw(api.app.port, data);
        const lines = await linesOf(headerOf(answer, 'x-request-id')!);
        expect(lines).toMatchObject([
          { level: 30, status: answer.status, method: null, route: null, user_id: null, address: '127.0.0.1' },
        ]);
      }
    });

    it('has a line, without a status, for a client that left before the answer', async () => {
      const id = randomUUID();
      const connection = await RawConnection.open(api.app.port);
      const waiting = once(started, 'waiting');

      connection.write(`GET /api/v1/trouble/waiting HTTP/1.1\r\nHost: x\r\nX-Request-Id: ${id}\r\n\r\n`);
      await waiting;
      connection.reset();

      expect(await linesOf(id)).toMatchObject([
        { level: 30, status: null, aborted: true, route: '/api/trouble/waiting', address: '127.0.0.1' },
      ]);
    });
  });

  describe('of errors', () => {
    const linesAbout = (requestId: string) => api.app.log.filter((line) => line.request_id === requestId);

    it('has the error of a 5xx with its stack, beside the line of the request', async () => {
      const id = randomUUID();
      await api.post('/trouble/thrown', { secret: 'what went wrong' }, { 'X-Request-Id': id });
      await linesOf(id);

      expect(linesAbout(id)).toMatchObject([
        {
          level: 50,
          err: {
            type: 'Error',
            message: 'what went wrong',
            stack: expect.stringMatching(/TroubleController.raise .*request-log.spec.ts[^]*node_modules.@nestjs/),
          },
        },
        { level: 50, msg: 'request', status: 500 },
      ]);
    });

    it.each(Object.keys(statements))('holds nothing of what was written to the database: %s', async (kind) => {
      for (const value of [SECRET, EMAIL, `"${SECRET}"`, `${SECRET}\n${EMAIL}: "${SECRET}"`]) {
        const id = randomUUID();
        const answer = await api.post(
          '/trouble',
          `{"secret":${JSON.stringify(`${kind}|${value.replace('\n', ' ')}`)}}`,
          {
            'X-Request-Id': id,
          },
        );
        await linesOf(id);

        if (value === SECRET) expect(answer.status).toBeGreaterThanOrEqual(400);
        if (answer.status >= 500) expect(linesAbout(id)).toHaveLength(2);
        expect(JSON.stringify(linesAbout(id))).not.toMatch(/sesame|scheherazade|424299/);
      }
    });

    it('still says which table, column or constraint it is about', async () => {
      const id = randomUUID();
      await api.post('/trouble', { secret: 'a table|' }, { 'X-Request-Id': id });
      await linesOf(id);

      expect(linesAbout(id)[0]).toMatchObject({ err: { message: 'relation "nowhere" does not exist', code: '42P01' } });
    });

    it('holds no e-mail address and no token, even if they were thrown', async () => {
      for (const kind of ['text', 'error']) {
        const id = randomUUID();
        const secret = `${kind}: no user has <${EMAIL}> and ${ada.token}`;
        expect(await api.post('/trouble/thrown', { secret }, { 'X-Request-Id': id })).toMatchObject({ status: 500 });
        await linesOf(id);
        expect(linesAbout(id)).toHaveLength(2);
        expect(JSON.stringify(linesAbout(id))).toContain('no user has');
        expect(JSON.stringify(linesAbout(id))).not.toMatch(new RegExp(`${SECRET}|scheherazade|${ada.token}`));
      }
    });
  });

  it('holds no secret of anybody, whatever they do', async () => {
    const password = `${SECRET} ${randomUUID()}`;
    const username = `user-${randomUUID().slice(0, 8)}`;
    const email = `${username}@private.example`;
    const send = async (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
      (await api.send(method, path, body, headers)).body;

    await send('POST', '/users', { username, email, password });
    await send('POST', '/users', { username, email, password });
    await send('POST', '/users', { username, email, password, more: password });
    await send('POST', '/users', `{"password":"${password}`);
    await send('POST', '/auth/tokens', { username: email, password: `${password}x` });
    const { data: tokens } = await send('POST', '/auth/tokens', { username: email, password });
    const { data: next } = await send('PUT', '/auth/tokens', { refresh_token: tokens.refresh_token });
    const bearer = { Authorization: `Bearer ${next.access_token}` };
    const { data: user } = await send('GET', '/users/profile', undefined, bearer);
    await send('GET', `/users?search=${encodeURIComponent(email)}`, undefined, bearer);
    await send('GET', `/users/${encodeURIComponent(email)}?token=${next.access_token}`, undefined, bearer);
    await send('GET', `/${encodeURIComponent(email)}/${next.access_token}`, undefined, bearer);
    await send('PATCH', `/users/${user.id}`, { password: `${password}2` }, bearer);
    await send('DELETE', '/auth/tokens', { refresh_token: next.refresh_token });
    await sendRaw(api.app.port, `GET /${next.access_token}\0 HTTP/1.1\r\nHost: x\r\n\r\n`);
    const last = randomUUID();
    await send('GET', '/public', undefined, { 'X-Request-Id': last, Cookie: `session=${next.access_token}` });
    await linesOf(last);

    const { password_hash } = await api.repository(User).findOneByOrFail({ id: user.id });
    const secrets = [password, email, username, password_hash, ...Object.values({ ...tokens, ...next })];
    const log = JSON.stringify(api.app.log);
    expect(
      secrets.filter((secret) => typeof secret === 'string' && secret !== 'Bearer' && log.includes(secret)),
    ).toEqual([]);
    expect(log).not.toMatch(/Bearer|\$argon2|@private|authorization|cookie/i);
  });
});
