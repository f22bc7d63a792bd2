import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { GrowingBuffer } from '../../src/platform/http/growing-buffer';
import { expectError, expectSuccess } from '../support/expectations';
import { RawConnection } from '../support/raw-http';
import { times, useTestApi } from '../support/test-api';
import { waitFor } from '../support/wait-for';

const MEBIBYTE = 2 ** 20;
/** Connections that send at once: a busy machine reads their 400,000 chunks in seconds, too. */
const COUNT = 25;
const PATIENCE_MS = 60_000;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Bytes that are in use. */
function memory(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

describe('A body in chunks of one byte', () => {
  const api = useTestApi();
  const head =
    'POST /api/v1/users HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
  const chunked = (text: string) => [...text].map((letter) => `1\r\n${letter}\r\n`).join('');
  const userOf = (username: string) =>
    JSON.stringify({ username, email: `${username}@example.com`, password: 'long enough' });

  it('is read like any other, also over many packets and behind another request', async () => {
    const [first, second] = [userOf('chunky'), userOf('chunkier')].map((body) => `${head}${chunked(body)}0\r\n\r\n`);
    const connection = await RawConnection.open(api.app.port);
    for (let from = 0; from < first.length; from += 50) {
      connection.write(first.slice(from, from + 50));
      await turnOfTheLoop();
    }
    connection.write(second);

    for (const answer of await connection.answers(2)) expectSuccess(answer, 201, 'Created');
    connection.destroy();
  });

  it('takes memory for its bytes alone while its end is kept back', async () => {
    const half = `${head}${chunked(' '.repeat(16_000))}`;
    const sockets: Socket[] = [];
    (api.app.nest.getHttpServer() as Server).on('connection', (socket: Socket) => sockets.push(socket));
    const before = memory();
    const connections = await Promise.all(times(COUNT, () => RawConnection.open(api.app.port)));
    try {
      for (const connection of connections) connection.write(half);
      await waitFor(() => sockets.filter(({ bytesRead }) => bytesRead >= half.length).length === COUNT, PATIENCE_MS);
      await turnOfTheLoop();

      // 0.4 MB of bytes; kept as chunks they took 75 MB.
      expect(memory() - before).toBeLessThan(24 * MEBIBYTE);
      await Promise.all(connections.map((connection) => connection.write('0\r\n\r\n').answer()));
    } finally {
      for (const connection of connections) connection.destroy();
    }
  });

  it('is forgotten when it was answered, though its connection stays', async () => {
    const server = api.app.nest.getHttpServer() as Server;
    let request: WeakRef<object> | undefined;
    server.once('request', (one) => (request = new WeakRef(one)));
    const connection = await RawConnection.open(api.app.port);
    await connection.write(`${head}${chunked('{}')}0\r\n\r\n`).answer();

    await waitFor(() => {
      collectGarbage();
      return request!.deref() === undefined;
    });
    connection.destroy();
  });

  it('is refused when it is too large', async () => {
    const connection = await RawConnection.open(api.app.port);
    connection.write(`${head}${chunked('a'.repeat(17_000))}`);

    expectError(await connection.answer(), 'PAYLOAD_TOO_LARGE');
    connection.destroy();
  });
});

describe('A growing buffer', () => {
  it('has what was added, in at most twice the memory, however small the pieces are', () => {
    const bytes = new GrowingBuffer();
    for (let index = 0; index < 5_000; index++) bytes.add(Buffer.from([index % 256]));

    expect(bytes.whole()).toEqual(Buffer.from(Array.from({ length: 5_000 }, (_, index) => index % 256)));
    expect(bytes.whole().buffer.byteLength).toBeLessThanOrEqual(10_000);
  });

  it('leaves a single piece as it is', () => {
    const piece = Buffer.from('whole');
    const bytes = new GrowingBuffer();
    bytes.add(piece);

    expect(bytes.whole().buffer).toBe(piece.buffer);
  });

  it('does not write into the first piece, which belongs to its sender', () => {
    const piece = Buffer.from('first');
    const bytes = new GrowingBuffer();
    bytes.add(piece.subarray(0, 2));
    bytes.add(Buffer.from('XYZ'));

    expect(piece.toString()).toBe('first');
    expect(bytes.whole().toString()).toBe('fiXYZ');
  });
});
