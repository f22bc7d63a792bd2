import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { Worker } from 'node:worker_threads';
import { generate } from 'selfsigned';
import { boundSmallChunks } from '../../src/platform/server/small-chunks';
import { waitFor } from '../../src/platform/testing';

/** Connections that send at once. */
const COUNT = 60;

describe('A body in TLS records of one byte', () => {
  let server: Server;

  beforeAll(async () => {
    const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }], { keyType: 'ec' });
    server = createServer({ key, cert }, (request, response) => {
      let size = 0;
      request.on('data', (bytes: Buffer) => (size += bytes.length)).on('end', () => response.end(`${size} bytes`));
    });
    boundSmallChunks(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
  });

  afterAll(() => void server.close().closeAllConnections());

  it('is read to its end', async () => {
    expect(await answersOf(1, 3_000)).toEqual(['3000 bytes']);
  });

  it('costs more than a chunk of one byte, and is given up when fewer come at once', async () => {
    const answers = await answersOf(COUNT, 1_000);

    expect(new Set(answers)).toEqual(new Set(['1000 bytes', 'none']));
    // As many chunks would all be read: see small-chunks.spec.ts.
    expect(answers.filter((answer) => answer === 'none').length).toBeGreaterThan(COUNT / 10);
  });

  /** Sends all bodies while the event loop is blocked, so that all of them are read in one turn. */
  async function answersOf(count: number, size: number): Promise<string[]> {
    const sent = new Int32Array(new SharedArrayBuffer(4));
    const { port } = server.address() as AddressInfo;
    const sender = new Worker(SENDER, { eval: true, workerData: { port, count, size, sent } });
    let isReady = false;
    sender.once('message', () => (isReady = true));
    try {
      await waitFor(() => isReady);
      sender.postMessage('send');
      Atomics.wait(sent, 0, 0, 30_000);
      const [answers] = (await once(sender, 'message')) as [string[]];
      return answers;
    } finally {
      await sender.terminate();
    }
  }
});

/** In a thread, as the server waits until all connections have sent. Each write becomes a record of its own. */
const SENDER = `
  const { once } = require('node:events');
  const { connect } = require('node:net');
  const { Duplex } = require('node:stream');
  const tls = require('node:tls');
  const { workerData: { port, count, size, sent }, parentPort } = require('node:worker_threads');
  const HEAD = 'POST / HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\nContent-Length: ' + size + '\\r\\n\\r\\n';

  async function prepare() {
    const plain = connect(port, '127.0.0.1');
    let records;
    const pass = (bytes, _encoding, done) => done(void (records ? records.push(bytes) : plain.write(bytes)));
    const wire = new Duplex({ read: () => undefined, write: pass });
    plain.on('error', () => undefined).on('data', (bytes) => wire.push(bytes)).on('close', () => wire.destroy());
    const secure = tls.connect({ socket: wire, rejectUnauthorized: false }).on('error', () => undefined);
    await once(secure, 'secureConnect');
    records = [];
    for (const text of [HEAD, ...' '.repeat(size)]) await new Promise((done) => secure.write(text, done));
    const request = Buffer.concat(records);
    records = undefined;
    let text = '';
    secure.on('data', (more) => (text += more));
    const closed = new Promise((done) => secure.on('close', done));
    return { send: () => plain.write(request), answer: () => closed.then(() => text.split('\\r\\n\\r\\n')[1] ?? 'none') };
  }

  (async () => {
    const all = [];
    while (all.length < count) all.push(await prepare());
    parentPort.once('message', async () => {
      for (const { send } of all) send();
      Atomics.store(sent, 0, 1);
      Atomics.notify(sent, 0);
      parentPort.postMessage(await Promise.all(all.map(({ answer }) => answer())));
    });
    parentPort.postMessage('ready');
  })();
`;
