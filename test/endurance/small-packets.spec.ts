import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { KeptBytes, type ServerSocket } from '../../src/platform/server/kept-bytes';
import { hasPlace, type Sharer } from '../../src/platform/server/chunk-windows';
import { Drain } from '../../src/platform/server/drain';
import { answerParserErrors } from '../../src/platform/server/parser-errors';
import { RawConnection, times, waitFor } from '../../src/platform/testing';
import { collectGarbage, memory } from '../support/memory';

const MEBIBYTE = 2 ** 20;

describe('Bytes behind a waiting request that come a packet each', () => {
  it('take memory for their bytes alone, and all of them are parsed', () => {
    const parsed: Buffer[] = [];
    const others = { remoteAddress: '10.1.0.1', pause: jest.fn(), resume: jest.fn(), destroy: jest.fn() };
    const socket = Object.assign(new EventEmitter(), others) as unknown as ServerSocket;
    socket.on('data', (bytes: Buffer) => parsed.push(bytes));
    const bytes = new KeptBytes(socket);
    const before = memory();
    const pause = { rawPacket: Buffer.from('GET /a'), bytesParsed: 4 };
    bytes.keep(pause as unknown as Parameters<KeptBytes['keep']>[0]);
    // As Node reads them: each in memory of its own.
    for (let count = 0; count < 60_000; count++) socket.emit('data', Buffer.from(new ArrayBuffer(1)));

    expect(memory() - before).toBeLessThan(MEBIBYTE);
    expect(parsed).toEqual([]);
    bytes.parse();
    expect(Buffer.concat(parsed)).toEqual(Buffer.concat([Buffer.from('/a'), Buffer.alloc(60_000)]));
  });
});

describe.each([
  ['A connection', ''],
  ['A connection that has pipelined', 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(2)],
])('%s', (_what, first) => {
  const BYTES = 2_000;
  let server: Server;
  let requests: IncomingMessage[];
  let connection: RawConnection;

  beforeEach(async () => {
    requests = [];
    server = createServer();
    answerParserErrors(server);
    new Drain(server, (request, response) => {
      if (request.method === 'POST') requests.push(request);
      else setImmediate(() => response.end('done'));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    connection = await RawConnection.open((server.address() as AddressInfo).port);
    if (first) await connection.write(first).answers(2);
  });

  afterEach(() => {
    connection.destroy();
    server.closeAllConnections();
    server.close();
  });

  /** Sends what Node reads piece by piece. */
  async function send(piece: string, count: number): Promise<void> {
    for (let sent = 0; sent < count; sent++) {
      connection.write(piece);
      await turnOfTheLoop();
    }
  }

  const begun = async (head: string) => {
    connection.write(`POST / HTTP/1.1\r\nHost: x\r\n${head}\r\n\r\n`);
    await waitFor(() => requests.length === 1);
    return requests[0];
  };

  it.each([
    ['of a known length', `Content-Length: ${BYTES}`, 'a', ''],
    ['in chunks', 'Transfer-Encoding: chunked', '1\r\na\r\n', '0\r\n\r\n'],
  ])(
    'whose body comes a packet for each byte is not read far ahead of its reader: %s',
    async (_how, head, piece, end) => {
      const request = await begun(head);
      await send(piece, BYTES);
      connection.write(end);

      expect(request.readableLength).toBeLessThan(300);
      expect(request.readableLength).toBeGreaterThan(200);
      expect(request.socket.readableLength).toBeLessThan(10);
      expect(await text(request)).toBe('a'.repeat(BYTES));
    },
  );

  it('is not read far ahead behind a request that waits', async () => {
    const { socket } = await begun('Content-Length: 0');
    const [get] = ['GET /later HTTP/1.1\r\nHost: x\r\n\r\n'];
    connection.write(`${get}${'b'.repeat(70_000)}`);
    await waitFor(() => socket.bytesRead > 70_000);
    await send('c', BYTES);

    expect(socket.readableLength).toBeLessThan(10);
  });

  it('is read to the end of a body of small chunks whose reader comes late', async () => {
    const request = await begun('Transfer-Encoding: chunked');
    connection.write(`${'5\r\naaaaa\r\n'.repeat(15_000)}0\r\n\r\n`);
    await waitFor(() => request.readableLength >= request.readableHighWaterMark);
    // All windows in which small chunks were too many are over then.
    await waitFor(() => hasPlace(aParser().parser));

    expect(await text(request)).toHaveLength(75_000);
  });
});

const aParser = () => {
  const incoming = { readableLength: 0, readableHighWaterMark: 1 };
  const socket = { destroyed: false, isPaused: () => false, pause: jest.fn() };
  return { parser: { incoming, socket } as unknown as Sharer, incoming, socket };
};

describe('A connection that waits with its small chunks', () => {
  it('is forgotten when it is closed, even while there is no room for small chunks', async () => {
    const waiting = times(100, () => {
      const { parser, incoming, socket } = aParser();
      for (let piece = 0; piece < 300; piece++) hasPlace(parser);
      socket.destroyed = true;
      return new WeakRef(incoming);
    });
    const { parser: other } = aParser();

    await waitFor(() => {
      while (hasPlace(other));
      collectGarbage();
      return waiting.every((incoming) => incoming.deref() === undefined);
    });
  });

  it('may be closed just before its turn, as the last of all', async () => {
    let windows: typeof import('../../src/platform/server/chunk-windows') | undefined;
    jest.isolateModules(() => {
      windows = jest.requireActual('../../src/platform/server/chunk-windows');
    });
    const [first, second] = times(2, () => aParser());
    for (const { parser } of [first, second]) for (let piece = 0; piece < 4_096; piece++) windows!.hasPlace(parser);
    second.socket.destroyed = true;
    // The first has its turn, then a window ends, before the second's.
    setImmediate(() => {
      for (const start = performance.now(); performance.now() - start < 120;);
    });
    await turnOfTheLoop();
    await turnOfTheLoop();

    expect(first.parser.waits).toBeUndefined();
  });
});
