import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { KeptBytes, type ServerSocket } from '../../src/platform/server/kept-bytes';
import { hasPlace, type Sharer } from '../../src/platform/server/chunk-windows';
import { boundSmallChunks } from '../../src/platform/server/small-chunks';
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

describe('A body that comes a packet for each byte', () => {
  const BYTES = 2_000;
  let server: Server;
  let requests: IncomingMessage[];

  beforeEach(async () => {
    requests = [];
    server = createServer((request) => requests.push(request));
    boundSmallChunks(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
  });

  afterEach(() => void server.close().closeAllConnections());

  it.each([
    ['of a known length', `Content-Length: ${BYTES}`, 'a', ''],
    ['in chunks', 'Transfer-Encoding: chunked', '1\r\na\r\n', '0\r\n\r\n'],
  ])('%s, is not read far ahead of its reader, and is read to its end', async (_how, header, piece, end) => {
    const { port } = server.address() as AddressInfo;
    const connection = await RawConnection.open(port);
    connection.write(`POST / HTTP/1.1\r\nHost: x\r\n${header}\r\n\r\n`);
    await waitFor(() => requests.length === 1);
    const [request] = requests;
    for (let count = 0; count < BYTES; count++) {
      connection.write(piece);
      await turnOfTheLoop();
    }
    connection.write(end);

    expect(request.readableLength).toBeLessThan(300);
    expect(request.readableLength).toBeGreaterThan(200);
    expect(await text(request)).toBe('a'.repeat(BYTES));
    connection.destroy();
  });
});

describe('A connection that waits with its small chunks', () => {
  const aParser = () => {
    const incoming = { readableLength: 0, readableHighWaterMark: 1 };
    const socket = { destroyed: false };
    return { parser: { incoming, socket } as unknown as Sharer, incoming, socket };
  };

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
});
