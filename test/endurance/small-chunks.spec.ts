import { once } from 'node:events';
import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { GrowingBuffer } from '../../src/platform/http/growing-buffer';
import type { boundSmallChunks } from '../../src/platform/server/small-chunks';
import { expectError, expectSuccess, RawConnection, RowLock, times, waitFor } from '../../src/platform/testing';
import { collectGarbage, memory } from '../support/memory';
import { type TestUser, useTestApi } from '../support/test-api';

const MEBIBYTE = 2 ** 20;
/** Connections that send at once. */
const COUNT = 8;

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

  /** Sends the first half of a request on several connections, then ends all of them. */
  async function expectMemoryOfBytes(half: string, beforeEnd = () => Promise.resolve()): Promise<void> {
    const sockets: Socket[] = [];
    (api.app.nest.getHttpServer() as Server).on('connection', (socket: Socket) => sockets.push(socket));
    const before = memory();
    const connections = await Promise.all(times(COUNT, () => RawConnection.open(api.app.port)));
    try {
      for (const connection of connections) connection.write(half);
      await waitFor(() => sockets.filter(({ bytesRead }) => bytesRead >= half.length).length === COUNT);
      await turnOfTheLoop();

      // 0.13 MB of bytes; kept as chunks they took 24 MB.
      expect(memory() - before).toBeLessThan(8 * MEBIBYTE);
      await beforeEnd();
      await Promise.all(connections.map((connection) => connection.write('0\r\n\r\n').answer()));
    } finally {
      for (const connection of connections) connection.destroy();
    }
  }

  it('takes memory for its bytes alone while its end is kept back', () =>
    expectMemoryOfBytes(`${head}${chunked(' '.repeat(16_000))}`));

  it('takes memory for its bytes alone where nobody reads it', async () => {
    const get = 'GET /api/v1/products HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n';
    const lock = await RowLock.ofTable(api.app.databaseUrl, 'products');
    try {
      await expectMemoryOfBytes(`${get}${chunked(' '.repeat(16_000))}`, () => lock.release());
    } finally {
      await lock.release();
    }
  });

  it('keeps its order among larger chunks', async () => {
    const user = await api.user();
    const content = times(3_000, String).join(' ');
    const sizes = [1, 70, 2, 3, 63, 64, 65, 1, 1, 1_000];
    const json = JSON.stringify({ title: 'Mixed', content });
    let body = '';
    for (let at = 0, index = 0; at < json.length; index++) {
      const piece = json.slice(at, (at += sizes[index % sizes.length]));
      body += `${piece.length.toString(16)}\r\n${piece}\r\n`;
    }
    const connection = await RawConnection.open(api.app.port);
    const post = `POST /api/v1/posts HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${user.token}\r\n`;
    connection.write(`${post}${head.slice(head.indexOf('Content-Type'))}${body}0\r\n\r\n`);

    expect(expectSuccess(await connection.answer(), 201, 'Created')).toMatchObject({ content });
    connection.destroy();
  });

  it('is given up when too many come at once, and what came of it is never taken for all of it', async () => {
    const posts = times(60, (index) => {
      const body = `${userOf(`cut${index}`)}${' '.repeat(15_000)}and more`;
      return `${head.replace('Host', 'Connection: close\r\nHost')}${chunked(body)}0\r\n\r\n`;
    });
    const statuses = await statusesOfAll(posts);

    expect(new Set(statuses)).toEqual(new Set(['400', 'none']));
    expect(statuses.filter((status) => status === 'none').length).toBeGreaterThan(10);
    const after = await RawConnection.open(api.app.port);
    after.write(`${head}${chunked(userOf('after'))}0\r\n\r\n`);
    expectSuccess(await after.answer(), 201, 'Created');
    after.destroy();
  });

  async function statusesOfAll(requests: string[]): Promise<string[]> {
    let accepted = 0;
    (api.app.nest.getHttpServer() as Server).on('connection', () => accepted++);
    const sent = new Int32Array(new SharedArrayBuffer(4));
    const sender = new Worker(SENDER, { eval: true, workerData: { port: api.app.port, requests, sent } });
    try {
      await waitFor(() => accepted === requests.length);
      sender.postMessage('send');
      Atomics.wait(sent, 0, 0, 30_000);
      const [statuses] = (await once(sender, 'message')) as [string[]];
      return statuses;
    } finally {
      await sender.terminate();
    }
  }

  /** Sends a post in chunks of one byte: some 600 KB, which is more than Node reads of a connection in a turn. */
  async function beginPost(user: TestUser): Promise<RawConnection> {
    const body = JSON.stringify({ title: 'Long', content: 'a'.repeat(9_000) });
    const connection = await RawConnection.open(api.app.port);
    const post = `POST /api/v1/posts HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${user.token}\r\n`;
    connection.write(`${post}${head.slice(head.indexOf('Content-Type'))}`);
    return connection.write(`${chunked(`${' '.repeat(90_000)}${body}`)}0\r\n\r\n`);
  }

  it('is read to its end over many turns of the event loop', async () => {
    const connection = await beginPost(await api.user());

    const { content } = expectSuccess(await connection.answer(), 201, 'Created') as { content: string };
    expect(content).toHaveLength(9_000);
    connection.destroy();
  });

  it('gets a share of the time together with all others, and other bodies do not wait for it', async () => {
    const user = await api.user();
    const start = performance.now();
    const connections = await Promise.all(times(6, () => beginPost(user)));
    const other = await RawConnection.open(api.app.port);
    const body = userOf('unhurried');
    let areDone = false;
    const posts = Promise.all(connections.map((connection) => connection.answer())).finally(() => (areDone = true));
    other.write(`${head}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`);
    expectSuccess(await other.answer(), 201, 'Created');
    expect(areDone).toBe(false);
    for (const answer of await posts) expectSuccess(answer, 201, 'Created');

    // 20,000 are read in 100 ms, and at the beginning 100,000.
    const windows = (6 * 99_000 - 100_000) / 20_000;
    expect(performance.now() - start).toBeGreaterThan((windows - 1) * 100);
    for (const connection of [...connections, other]) connection.destroy();
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

/** In a thread, as the service waits until all connections have sent. */
const SENDER = `
  const { connect } = require('node:net');
  const { workerData: { port, requests, sent }, parentPort } = require('node:worker_threads');
  const open = () => new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket)).setEncoding('latin1').on('error', () => undefined);
  });
  const send = (socket, request) => new Promise((resolve) => {
    let text = '';
    socket.on('data', (more) => (text += more)).on('close', () => resolve(text.slice(9, 12) || 'none')).write(request);
  });
  const opened = Promise.all(requests.map(open));
  parentPort.once('message', async () => {
    const sockets = await opened;
    const statuses = Promise.all(sockets.map((socket, index) => send(socket, requests[index])));
    Atomics.store(sent, 0, 1);
    Atomics.notify(sent, 0);
    parentPort.postMessage(await statuses);
  });
`;

/** Each copy of the module, as two applications of a process may have, with a server that sends bodies back. */
async function echo(): Promise<Server> {
  let bound: typeof boundSmallChunks | undefined;
  jest.isolateModules(() => {
    ({ boundSmallChunks: bound } = jest.requireActual<typeof import('../../src/platform/server/small-chunks')>(
      '../../src/platform/server/small-chunks',
    ));
  });
  const server = createServer((request, response) => void request.pipe(response));
  bound!(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return server;
}

describe("A parser that Node has used for another application's connections", () => {
  it('loses no small body, though one before it ended in its middle', async () => {
    const servers = [await echo(), await echo()];
    try {
      for (const server of [...servers, ...servers]) {
        const { port } = server.address() as AddressInfo;
        const post = 'POST / HTTP/1.1\r\nHost: x\r\n';
        const broken = await RawConnection.open(port);
        const begun = once(server, 'request') as Promise<[IncomingMessage]>;
        broken.write(`${post}Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n`);
        const [{ socket }] = await begun;
        const closed = new Promise((resolve) => socket.once('close', resolve));
        broken.destroy();
        await closed;

        const whole = await RawConnection.open(port);
        whole.write(`${post}Content-Length: 4\r\nConnection: close\r\n\r\nbody`);
        expect((await whole.answer()).text).toContain('body');
        whole.destroy();
      }
    } finally {
      for (const server of servers) server.close().closeAllConnections();
    }
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
