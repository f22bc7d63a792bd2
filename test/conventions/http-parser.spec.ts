import {
  expectError,
  expectErrorEnvelope,
  expectSuccess,
  headerOf,
  type RawAnswer,
  RawConnection,
  sendRaw,
  times,
} from '../../src/platform/testing';
import { aNewUserOnTheWire, chunkOf, postOnTheWire } from '../support/raw-requests';
import { useTestApi } from '../support/test-api';
import { generator, mutate } from '../support/mutated-text';

/** Of `POST /users`. */
const LIMIT = 16 * 1024;
/** Less than the limit of a request, which would end everything anyway. */
const PATIENCE_MS = 15_000;
/** How long a complete request may take to be answered. */
const ANSWER_MS = 250;

describe('on the wire', () => {
  const api = useTestApi();
  const open = () => RawConnection.open(api.app.port);
  const send = (data: string | Uint8Array) => sendRaw(api.app.port, data);

  const register = (body = aNewUserOnTheWire()) =>
    postOnTheWire('/api/v1/users', { 'Content-Length': body.length }, body);

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
      [
        'chunks that are not the last encoding',
        postOnTheWire('/api/v1/users', { 'Transfer-Encoding': 'chunked, gzip' }),
      ],
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

    it('is 400, and the last of its connection, where HTTP/1.0 has chunks', async () => {
      const head = 'Transfer-Encoding: chunked\r\nConnection: keep-alive\r\n\r\n0\r\n\r\n';
      const answer = await send(`GET /api/v1/public HTTP/1.0\r\n${head}`);
      expectError(answer, 'VALIDATION_ERROR', { fields: { 'Transfer-Encoding': 'version' } });
      expect(answer.headers.connection).toBe('close');
    });

    it.each([
      ['Host', 'GET /api/v1/public HTTP/1.1\r\nHost: x\r\nhost: y\r\n\r\n'],
      ['Host', 'GET /api/v1/public HTTP/1.0\r\nHost: x\r\nX-A: b\r\nHOST: x\r\n\r\n'],
      [
        'Content-Type',
        postOnTheWire('/api/v1/users', {
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
      const body = aNewUserOnTheWire();
      const connection = await open();

      connection.write(postOnTheWire('/api/v1/users', { 'Content-Length': body.length, Expect: '100-continue' }));
      expect(await connection.answer()).toMatchObject({ status: 100 });
      const [, answer] = await connection.write(body).answers(2);
      connection.destroy();

      expectSuccess(answer, 201, 'Created');
    });

    const refused: [name: string, code: Parameters<typeof expectError>[1], data: string][] = [
      [
        'the declared length is too large',
        'PAYLOAD_TOO_LARGE',
        postOnTheWire('/api/v1/users', { 'Content-Length': LIMIT + 1 }),
      ],
      [
        'the media type is another',
        'UNSUPPORTED_MEDIA_TYPE',
        postOnTheWire('/api/v1/users', { 'Content-Type': 'text/plain' }),
      ],
      [
        'the compression is another',
        'UNSUPPORTED_MEDIA_TYPE',
        postOnTheWire('/api/v1/users', { 'Content-Encoding': 'zip' }),
      ],
      ['the caller is unknown', 'UNAUTHORIZED', postOnTheWire('/api/v1/users/1', {}).replace('POST', 'PATCH')],
      ['a parameter is unknown', 'VALIDATION_ERROR', postOnTheWire('/api/v1/users?more=1', {})],
      ['the path is unknown', 'NOT_FOUND', postOnTheWire('/nothing', {})],
    ];

    it.each(refused)('of 100 is answered by the error alone when %s', async (_name, code, data) => {
      const length = data.includes('Content-Length') ? '' : 'Content-Length: 100\r\n';
      const answer = await send(data.replace('Host: x\r\n', `Host: x\r\nExpect: 100-continue\r\n${length}`));

      expectError(answer, code);
    });

    it('of 100 is ignored in HTTP/1.0, which knows no such answer', async () => {
      const body = aNewUserOnTheWire();
      const data = postOnTheWire('/api/v1/users', { 'Content-Length': body.length, Expect: '100-continue' }, body);

      expectSuccess(await send(data.replace('HTTP/1.1', 'HTTP/1.0')), 201, 'Created');
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

    it('have a line of the log each, also one that is refused while it waits for its turn', async () => {
      const connection = await open();
      const ids = ['before-it', 'refused-in-turn'];
      const first = `GET /health/ready HTTP/1.1\r\nHost: x\r\nX-Request-Id: ${ids[0]}\r\n\r\n`;
      const headers = { 'Transfer-Encoding': 'chunked', 'X-Request-Id': ids[1] };

      connection.write(first + postOnTheWire('/api/v1/users', headers, 'ZZ\r\n{}\r\n'));
      const answers = await connection.allAnswers();

      expect(answers.map(({ status }) => status)).toEqual([200, 400]);
      const lines = api.app.log.filter(({ request_id }) => ids.includes(String(request_id)));
      expect(lines.map(({ request_id, status }) => [request_id, status])).toEqual([
        [ids[0], 200],
        [ids[1], 400],
      ]);
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
      postOnTheWire(
        '/api/v1/auth/tokens',
        { 'Transfer-Encoding': 'chunked' },
        `${chunkOf('{"username":"a"}')}0\r\n\r\n`,
      ),
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
        // Node ends a connection whose client has ended its side. Only half a request has no answer until then.
        await connection
          .write(data)
          .answer(ANSWER_MS)
          .catch(() => undefined);
        return await connection.end().allAnswers(PATIENCE_MS);
      } finally {
        connection.destroy();
      }
    }
  });
});
