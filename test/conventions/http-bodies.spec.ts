import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import express from 'express';
import { bodyReader } from '../../src/platform/pipeline/body-reader';
import { expectError, expectSuccess, headerOf, RawConnection, sendRaw, waitFor } from '../../src/platform/testing';
import { User } from '../../src/resources/users/user.entity';
import { aNewUserOnTheWire, chunkOf, postOnTheWire } from '../support/raw-requests';
import { useTestApi } from '../support/test-api';

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

  const register = (body = aNewUserOnTheWire()) =>
    postOnTheWire('/api/v1/users', { 'Content-Length': body.length }, body);

  describe('a body that is too large', () => {
    it('is refused by its declared length, before a byte of it came', async () => {
      expectError(await send(postOnTheWire('/api/v1/users', { 'Content-Length': 10 * 2 ** 20 })), 'PAYLOAD_TOO_LARGE');
      expectError(
        await send(postOnTheWire('/api/v1/users', { 'Content-Length': '9'.repeat(15) })),
        'PAYLOAD_TOO_LARGE',
      );
    });

    it('is refused when the limit is passed, while its chunks still come', async () => {
      const connection = await open();

      connection.write(
        postOnTheWire('/api/v1/users', { 'Transfer-Encoding': 'chunked' }, chunkOf('a'.repeat(LIMIT + 1))),
      );
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
      connection.write(postOnTheWire('/api/v1/users', { ...headers, 'Content-Length': LIMIT }, bomb));
      expectError(await connection.answer(), 'PAYLOAD_TOO_LARGE');
      connection.write('GET /api/v1/public HTTP/1.1\r\nHost: x\r\n\r\n');
      expect((await connection.answers(2))[1]).toMatchObject({ status: 200 });
      connection.destroy();
    });

    it.each([
      ['declared', (body: string) => postOnTheWire('/api/v1/users', { 'Content-Length': body.length }, body)],
      [
        'chunked',
        (body: string) =>
          postOnTheWire('/api/v1/users', { 'Transfer-Encoding': 'chunked' }, `${chunkOf(body)}0\r\n\r\n`),
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
        aNewUserOnTheWire()
          .replace('}', ' '.repeat(length))
          .slice(0, length - 1) + '}';

      expectSuccess(await send(register(fill(LIMIT))), 201, 'Created');
      expectError(await send(register(fill(LIMIT + 1))), 'PAYLOAD_TOO_LARGE');
    });
  });

  describe('a body that does not arrive', () => {
    it('is 400 when the client ends its side early', async () => {
      const connection = await open();

      connection.write(postOnTheWire('/api/v1/users', { 'Content-Length': 100 }, '{"username":')).end();

      expectError(await connection.answer(), 'VALIDATION_ERROR', { fields: { request: 'http' } });
      await connection.closed();
    });

    it.each([
      ['with a length', postOnTheWire('/api/v1/users', { 'Content-Length': 100 }, '{"username":')],
      ['in chunks', postOnTheWire('/api/v1/users', { 'Transfer-Encoding': 'chunked' }, chunkOf('{"username":'))],
      ['compressed', postOnTheWire('/api/v1/users', { 'Content-Encoding': 'gzip', 'Content-Length': 100 }, '\x1f\x8b')],
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

      connection.write(
        postOnTheWire('/', { 'Content-Encoding': 'gzip', 'Content-Length': 100, Expect: '100-continue' }),
      );
      await connection.answer();
      connection.write(gzipSync('{}').subarray(0, 15)).reset();
      await waitFor(() => outcomes.length > 0).finally(() => server.close());

      expect(outcomes).toMatchObject([{ code: 'VALIDATION_ERROR', fields: [{ field: 'body', rule: 'length' }] }]);
    });

    it('is 400 where a chunk is malformed, with the id of its request', async () => {
      const headers = { 'Transfer-Encoding': 'chunked', 'X-Request-Id': 'chunks' };
      const connection = await open();

      connection.write(postOnTheWire('/api/v1/users', headers, `${chunkOf('{"username":')}nonsense\r\n`));
      const answers = await connection.allAnswers();

      expect(answers).toHaveLength(1);
      expectError(answers[0], 'VALIDATION_ERROR', { fields: { request: 'http' } });
      expect(headerOf(answers[0], 'x-request-id')).toBe('chunks');
    });
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
