import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import express from 'express';
import { bodyReader } from '../../src/platform/pipeline/body-reader';
import { User } from '../../src/resources/users/user.entity';
import { expectError, expectErrorEnvelope, expectSuccess, headerOf } from '../support/expectations';
import { type RawAnswer, RawConnection, sendRaw } from '../support/raw-http';
import { times, useTestApi } from '../support/test-api';
import { waitFor } from '../support/wait-for';

/** Of `POST /users`. */
const LIMIT = 16 * 1024;
/** Less than the limit of a request, which would end everything anyway. */
const PATIENCE_MS = 15_000;

describe('a body', () => {
  const api = useTestApi({ settings: { JSON_BODY_LIMIT: '10000' } });

  it('has the limit of the setting, to the byte, where its route has no other', async () => {
    const { token } = await api.user();
    const postOf = (length: number) => {
      const body = `{"title":"One","content":"One"${' '.repeat(length - 31)}}`;
      const headers = { Host: 'x', 'Content-Type': 'application/json', Authorization: `Bearer ${token}` };
      const lines = Object.entries({ ...headers, 'Content-Length': body.length }).map(
        ([name, value]) => `${name}: ${value}\r\n`,
      );
      return `POST /api/v1/posts HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
    };

    expectSuccess(await sendRaw(api.app.port, postOf(10_000)), 201, 'Created');
    expectError(await sendRaw(api.app.port, postOf(10_001)), 'PAYLOAD_TOO_LARGE');
  });
});

describe('on the wire', () => {
  const api = useTestApi();
  const open = () => RawConnection.open(api.app.port);
  const send = (data: string | Uint8Array) => sendRaw(api.app.port, data);

  let users = 0;
  const aNewUser = () => {
    const username = `wire${++users}`;
    return JSON.stringify({ username, email: `${username}@example.com`, password: 'long enough' });
  };
  const post = (path: string, headers: Record<string, string | number>, body = '') =>
    `POST ${path} HTTP/1.1\r\n${Object.entries({ Host: 'x', 'Content-Type': 'application/json', ...headers })
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('')}\r\n${body}`;
  const register = (body = aNewUser()) => post('/api/v1/users', { 'Content-Length': body.length }, body);
  const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;

  describe('what is not HTTP', () => {
    it.each([
      ['bytes of another protocol', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
      ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
      ['a word', 'hello\r\n\r\n'],
      ['an unknown version', 'GET / HTTP/9.9\r\nHost: x\r\n\r\n'],
      ['a path without its slash', 'GET api HTTP/1.1\r\nHost: x\r\n\r\n'],
      ['a path that is a backslash', 'GET \\api\\v1 HTTP/1.1\r\nHost: x\r\n\r\n'],
      ['a blank in the path', 'GET /a b HTTP/1.1\r\nHost: x\r\n\r\n'],
      ['a letter outside ASCII in the path', 'GET /\xe9 HTTP/1.1\r\nHost: x\r\n\r\n'],
      ['NUL in the path', 'GET /\0 HTTP/1.1\r\nHost: x\r\n\r\n'],
      ['a header without a colon', 'GET / HTTP/1.1\r\nHost: x\r\nnonsense\r\n\r\n'],
      ['a blank before the colon', 'GET / HTTP/1.1\r\nHost: x\r\nA : b\r\n\r\n'],
      ['a folded header', 'GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n'],
      ['NUL in a header', 'GET / HTTP/1.1\r\nHost: x\r\nA: \0\r\n\r\n'],
      ['a length that is no number', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: many\r\n\r\n'],
      ['a negative length', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n'],
      ['two lengths', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n'],
      ['a length and chunks', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n'],
      ['chunks that are not the last encoding', post('/api/v1/users', { 'Transfer-Encoding': 'chunked, gzip' })],
      ['a bare line feed', 'GET / HTTP/1.1\nHost: x\n\n'],
    ])('is 400 in the envelope: %s', async (_name, data) => {
      expectError(await send(data), 'VALIDATION_ERROR', { fields: { request: 'http' } });
    });

    it('is 400 where HTTP/1.1 asks for a Host', async () => {
      expectError(await send('GET /api/v1/public HTTP/1.1\r\n\r\n'), 'VALIDATION_ERROR', {
        fields: { Host: 'required' },
      });
      expectError(await send('GET /api/v1/public\r\n\r\n'), 'VALIDATION_ERROR');
      expect(await send('GET /api/v1/public HTTP/1.0\r\n\r\n')).toMatchObject({ status: 200 });
    });

    it.each([
      ['Host', 'GET /api/v1/public HTTP/1.1\r\nHost: x\r\nhost: y\r\n\r\n'],
      ['Host', 'GET /api/v1/public HTTP/1.0\r\nHost: x\r\nX-A: b\r\nHOST: x\r\n\r\n'],
      [
        'Content-Type',
        post('/api/v1/users', {
          'Content-Type': 'application/json',
          'content-type': 'text/plain',
          'Content-Length': '0',
        }),
      ],
    ])('is 400 where there are two of %s, of which Node would drop one', async (field, data) => {
      expectError(await send(data), 'VALIDATION_ERROR', { fields: { [field]: 'once' } });
    });

    it('is 400 where Accept is longer than any client needs', async () => {
      const accepting = (length: number) =>
        send(`GET /api/v1/products HTTP/1.1\r\nHost: x\r\nAccept: ${'*/*,'.repeat(length / 4)}\r\n\r\n`);

      expect(await accepting(2_048)).toMatchObject({ status: 200 });
      expectError(await accepting(2_052), 'VALIDATION_ERROR', { fields: { Accept: 'length' } });
    });

    it.each(['FOO', 'get', 'M-X', 'BREW'])(
      'is 405 for the method %s, with the methods that there are',
      async (method) => {
        const answer = await send(`${method} /api/v1/users HTTP/1.1\r\nHost: x\r\n\r\n`);

        expectError(answer, 'METHOD_NOT_ALLOWED');
        expect(headerOf(answer, 'allow')).toBe('GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS');
      },
    );

    it('is 405 for CONNECT, and the connection is no tunnel', async () => {
      const connection = await open();
      connection.write('CONNECT 127.0.0.1:5432 HTTP/1.1\r\nHost: x\r\nX-Request-Id: tunnel\r\n\r\n');

      const answer = await connection.answer();
      expectError(answer, 'METHOD_NOT_ALLOWED');
      expect(headerOf(answer, 'x-request-id')).toBe('tunnel');
      await connection.write('GET /api/v1/public HTTP/1.1\r\nHost: x\r\n\r\n').closed();
      expect(await connection.allAnswers()).toHaveLength(1);
    });

    it('goes on as HTTP/1.1 when asked to upgrade', async () => {
      const headers = 'Host: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n';

      expect(await send(`GET /api/v1/public HTTP/1.1\r\n${headers}\r\n`)).toMatchObject({ status: 200 });
    });

    it.each([
      ['a header', `GET / HTTP/1.1\r\nHost: x\r\nA: ${'a'.repeat(20_000)}\r\n\r\n`],
      ['the path', `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`],
      ['many headers', `GET / HTTP/1.1\r\nHost: x\r\n${times(4_000, (n) => `A${n}: a\r\n`).join('')}\r\n`],
      ['a header of a mebibyte', `GET / HTTP/1.1\r\nHost: x\r\nA: ${'a'.repeat(2 ** 20)}\r\n\r\n`],
    ])('is 431 when %s is too large', async (_name, data) => {
      expectError(await send(data), 'HEADERS_TOO_LARGE');
    });
  });

  describe('an expectation', () => {
    it('that is unknown is 417', async () => {
      expectError(
        await send('GET /api/v1/public HTTP/1.1\r\nHost: x\r\nExpect: nonsense\r\n\r\n'),
        'EXPECTATION_FAILED',
      );
      expectError(
        await send('GET /api/v1/public HTTP/1.1\r\nHost: x\r\nExpect: 100-continue, more\r\n\r\n'),
        'EXPECTATION_FAILED',
      );
    });

    it('of 100 is met when the body is going to be read', async () => {
      const body = aNewUser();
      const connection = await open();

      connection.write(post('/api/v1/users', { 'Content-Length': body.length, Expect: '100-continue' }));
      expect(await connection.answer()).toMatchObject({ status: 100 });
      const [, answer] = await connection.write(body).answers(2);
      connection.destroy();

      expectSuccess(answer, 201, 'Created');
    });

    const refused: [name: string, code: Parameters<typeof expectError>[1], data: string][] = [
      ['the declared length is too large', 'PAYLOAD_TOO_LARGE', post('/api/v1/users', { 'Content-Length': LIMIT + 1 })],
      ['the media type is another', 'UNSUPPORTED_MEDIA_TYPE', post('/api/v1/users', { 'Content-Type': 'text/plain' })],
      ['the compression is another', 'UNSUPPORTED_MEDIA_TYPE', post('/api/v1/users', { 'Content-Encoding': 'zip' })],
      ['the caller is unknown', 'UNAUTHORIZED', post('/api/v1/users/1', {}).replace('POST', 'PATCH')],
      ['a parameter is unknown', 'VALIDATION_ERROR', post('/api/v1/users?more=1', {})],
      ['the path is unknown', 'NOT_FOUND', post('/nothing', {})],
    ];

    it.each(refused)('of 100 is answered by the error alone when %s', async (_name, code, data) => {
      const length = data.includes('Content-Length') ? '' : 'Content-Length: 100\r\n';
      const answer = await send(data.replace('Host: x\r\n', `Host: x\r\nExpect: 100-continue\r\n${length}`));

      expectError(answer, code);
    });

    it('of 100 is ignored in HTTP/1.0, which knows no such answer', async () => {
      const body = aNewUser();
      const data = post('/api/v1/users', { 'Content-Length': body.length, Expect: '100-continue' }, body);

      expectSuccess(await send(data.replace('HTTP/1.1', 'HTTP/1.0')), 201, 'Created');
    });
  });

  describe('a body that is too large', () => {
    it('is refused by its declared length, before a byte of it came', async () => {
      expectError(await send(post('/api/v1/users', { 'Content-Length': 10 * 2 ** 20 })), 'PAYLOAD_TOO_LARGE');
      expectError(await send(post('/api/v1/users', { 'Content-Length': '9'.repeat(15) })), 'PAYLOAD_TOO_LARGE');
    });

    it('is refused when the limit is passed, while its chunks still come', async () => {
      const connection = await open();

      connection.write(post('/api/v1/users', { 'Transfer-Encoding': 'chunked' }, chunk('a'.repeat(LIMIT + 1))));
      expectError(await connection.answer(), 'PAYLOAD_TOO_LARGE');
      connection.destroy();
    });

    it('is refused when it grows too large by decompression', async () => {
      const bomb = gzipSync(Buffer.alloc(50 * 2 ** 20, ' '))
        .toString('latin1')
        .slice(0, LIMIT);
      const headers = { 'Content-Encoding': 'gzip', 'Content-Length': 2 * LIMIT };
      expect(bomb).toHaveLength(LIMIT);

      const connection = await open();
      connection.write(post('/api/v1/users', { ...headers, 'Content-Length': LIMIT }, bomb));
      expectError(await connection.answer(), 'PAYLOAD_TOO_LARGE');
      connection.write('GET /api/v1/public HTTP/1.1\r\nHost: x\r\n\r\n');
      expect((await connection.answers(2))[1]).toMatchObject({ status: 200 });
      connection.destroy();
    });

    it.each([
      ['declared', (body: string) => post('/api/v1/users', { 'Content-Length': body.length }, body)],
      [
        'chunked',
        (body: string) => post('/api/v1/users', { 'Transfer-Encoding': 'chunked' }, `${chunk(body)}0\r\n\r\n`),
      ],
    ])('leaves a connection that serves the next request, when the client sends all of it: %s', async (_name, make) => {
      const connection = await open();

      connection.write(make('a'.repeat(5 * 2 ** 20))).write('GET /api/v1/public HTTP/1.1\r\nHost: x\r\n\r\n');
      const [refusal, next] = await connection.answers(2);
      connection.destroy();

      expectError(refusal, 'PAYLOAD_TOO_LARGE');
      expect(next).toMatchObject({ status: 200 });
    });

    it('has the limit of its route, to the byte', async () => {
      const fill = (length: number) =>
        aNewUser()
          .replace('}', ' '.repeat(length))
          .slice(0, length - 1) + '}';

      expectSuccess(await send(register(fill(LIMIT))), 201, 'Created');
      expectError(await send(register(fill(LIMIT + 1))), 'PAYLOAD_TOO_LARGE');
    });
  });

  describe('a body that does not arrive', () => {
    it('is 400 when the client ends its side early', async () => {
      const connection = await open();

      connection.write(post('/api/v1/users', { 'Content-Length': 100 }, '{"username":')).end();

      expectError(await connection.answer(), 'VALIDATION_ERROR', { fields: { request: 'http' } });
      await connection.closed();
    });

    it.each([
      ['with a length', post('/api/v1/users', { 'Content-Length': 100 }, '{"username":')],
      ['in chunks', post('/api/v1/users', { 'Transfer-Encoding': 'chunked' }, chunk('{"username":'))],
      ['compressed', post('/api/v1/users', { 'Content-Encoding': 'gzip', 'Content-Length': 100 }, '\x1f\x8b')],
    ])('ends its request when the client crashes: %s', async (_name, data) => {
      const before = api.app.log.length;
      const connection = await open();

      connection.write(data.replace('Host: x', 'Host: x\r\nExpect: 100-continue'));
      expect(await connection.answer()).toMatchObject({ status: 100 });
      connection.reset();

      const line = () => api.app.log.slice(before).find(({ aborted }) => aborted === true);
      await waitFor(() => line() !== undefined, PATIENCE_MS);
      expect(line()).toMatchObject({ method: 'POST', route: '/api/users' });
    });

    it('is given up as well when it is compressed', async () => {
      const outcomes: unknown[] = [];
      const app = express().post('/', (request, response) => {
        void bodyReader(LIMIT)(request, response).catch((error: unknown) => outcomes.push(error));
      });
      const server = app.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const connection = await RawConnection.open((server.address() as AddressInfo).port);

      connection.write(post('/', { 'Content-Encoding': 'gzip', 'Content-Length': 100, Expect: '100-continue' }));
      await connection.answer();
      connection.write(gzipSync('{}').subarray(0, 15)).reset();
      await waitFor(() => outcomes.length > 0).finally(() => server.close());

      expect(outcomes).toMatchObject([{ code: 'VALIDATION_ERROR', fields: [{ field: 'body', rule: 'length' }] }]);
    });

    it('is 400 where a chunk is malformed, with the id of its request', async () => {
      const headers = { 'Transfer-Encoding': 'chunked', 'X-Request-Id': 'chunks' };
      const connection = await open();

      connection.write(post('/api/v1/users', headers, `${chunk('{"username":')}nonsense\r\n`));
      const answers = await connection.allAnswers();

      expect(answers).toHaveLength(1);
      expectError(answers[0], 'VALIDATION_ERROR', { fields: { request: 'http' } });
      expect(headerOf(answers[0], 'x-request-id')).toBe('chunks');
    });
  });

  describe('requests in a row on one connection', () => {
    const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

    it('are all answered, in their order, before what follows them is refused', async () => {
      const connection = await open();

      connection.write(register() + get('/health/ready') + get('/nothing') + 'FOO nonsense\r\n\r\n');
      const answers = await connection.allAnswers();

      expect(answers.map(({ status }) => status)).toEqual([201, 200, 404, 400]);
      expectError(answers[3], 'VALIDATION_ERROR', { fields: { request: 'http' } });
    });

    it('are refused once, however much nonsense follows', async () => {
      const connection = await open();

      for (const line of times(20, (n) => `nonsense ${n}\r\n\r\n`)) connection.write(line);

      expect(await connection.allAnswers()).toHaveLength(1);
    });

    it('are told apart when one names a whole URL', async () => {
      const answer = await send(register().replace('/api/v1/users', 'http://example.com/api/v1/users'));

      const { id } = expectSuccess(answer, 201, 'Created') as { id: number };
      expect(headerOf(answer, 'location')).toBe(`/api/v1/users/${id}`);
    });
  });

  it('answers whatever comes with an envelope, and goes on', async () => {
    const random = generator(20_260_131);
    const seeds = [register(), 'GET /api/v1/users?page=0 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer a.b.c\r\n\r\n'];
    seeds.push(
      post('/api/v1/auth/tokens', { 'Transfer-Encoding': 'chunked' }, `${chunk('{"username":"a"}')}0\r\n\r\n`),
    );
    const requests = times(300, (index) => mutate(seeds[index % seeds.length], random));

    const answers: RawAnswer[] = [];
    for (let at = 0; at < requests.length; at += 20) {
      const batch = await Promise.all(requests.slice(at, at + 20).map((data) => exchange(data)));
      answers.push(...batch.flat());
    }

    const errors = answers.filter(({ status }) => status >= 400);
    errors.forEach(expectErrorEnvelope);
    // The mutations are wild enough to be refused, and by more than one part of the service.
    expect(errors.length).toBeGreaterThan(200);
    expect(new Set(errors.map(({ status }) => status)).size).toBeGreaterThan(3);
    expect(errors.filter(({ status }) => status >= 500)).toEqual([]);
    expect(await send('GET /health/ready HTTP/1.1\r\nHost: x\r\n\r\n')).toMatchObject({ status: 200 });

    async function exchange(data: Uint8Array): Promise<RawAnswer[]> {
      const connection = await open();
      try {
        return await connection.write(data).end().allAnswers(PATIENCE_MS);
      } finally {
        connection.destroy();
      }
    }
  });
});

describe('a slow client', () => {
  const TIMEOUT = 300;
  const api = useTestApi({ settings: { REQUEST_TIMEOUT: String(TIMEOUT) } });
  const open = () => RawConnection.open(api.app.port);

  it('is answered 408 when its headers are late', async () => {
    const connection = await open();
    const start = performance.now();

    const answers = await connection.write('GET /api/v1/public HTTP/1.1\r\nHost: x\r\nA:').allAnswers();

    expect(answers).toHaveLength(1);
    expectError(answers[0], 'REQUEST_TIMEOUT');
    expect(performance.now() - start).toBeGreaterThan(TIMEOUT - 50);
    // By default Node waits for a minute.
    expect(performance.now() - start).toBeLessThan(PATIENCE_MS);
  });

  it('is answered 503 when its body is late, and what comes later is not worked on', async () => {
    const body = JSON.stringify({ username: 'latecomer', email: 'late@example.com', password: 'long enough' });
    const head = 'POST /api/v1/users HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';
    const connection = await open();

    connection.write(`${head}Content-Length: ${body.length}\r\n\r\n${body.slice(0, 10)}`);
    expectError(await connection.answer(), 'SERVICE_UNAVAILABLE');
    const answers = await connection.write(body.slice(10)).allAnswers();

    expect(answers).toHaveLength(1);
    expect(headerOf(answers[0], 'connection')).toBe('close');
    expect(await api.repository(User).countBy({ username: 'latecomer' })).toBe(0);
  });
});

/** A small generator of numbers in [0, 1), the same ones each time (mulberry32). */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A few random changes: bytes replaced, inserted, removed, pieces repeated or cut off. */
function mutate(text: string, random: () => number): Uint8Array {
  let bytes = Buffer.from(text, 'latin1');
  const anywhere = () => Math.floor(random() * (bytes.length + 1));
  const aByte = () => Buffer.from([Math.floor(random() * 256)]);
  const changes = [
    () => Buffer.concat([bytes.subarray(0, anywhere()), aByte(), bytes.subarray(anywhere())]),
    () => {
      const at = anywhere();
      return Buffer.concat([bytes.subarray(0, at), aByte(), bytes.subarray(at + 1)]);
    },
    () => {
      const at = anywhere();
      return Buffer.concat([bytes.subarray(0, at), Buffer.from('\r\n'), bytes.subarray(at)]);
    },
    () => bytes.subarray(0, anywhere()),
    () => Buffer.concat([bytes, bytes.subarray(anywhere())]),
  ];
  const count = 1 + Math.floor(random() * 4);
  for (let change = 0; change < count; change++) bytes = changes[Math.floor(random() * changes.length)]();
  return bytes;
}
