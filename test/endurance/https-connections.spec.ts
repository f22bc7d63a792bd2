import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { Worker } from 'node:worker_threads';
import { generate } from 'selfsigned';
import { Drain } from '../../src/platform/server/drain';
import { answerParserErrors } from '../../src/platform/server/parser-errors';

/** More than Node buffers of an answer before it stops to read. */
const LARGE = 'x'.repeat(60_000);
const CLIENTS = 20;
const REQUESTS = 400;

describe('A connection over TLS', () => {
  let server: Server;

  beforeAll(async () => {
    const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }], { keyType: 'ec' });
    // A connection that isn't read any more is closed soon, and its request fails.
    server = createServer({ key, cert, keepAliveTimeout: 2_000 });
    answerParserErrors(server);
    new Drain(server, (_request, response) => void setImmediate(() => response.end(LARGE)));
    await once(server.listen(0, '127.0.0.1'), 'listening');
  });

  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  it('is read on when its client asks again before Node knows that a large answer has left', async () => {
    const { port } = server.address() as AddressInfo;
    const clients = new Worker(READERS, { eval: true, workerData: { port, CLIENTS, REQUESTS } });
    const [failures] = (await once(clients, 'message')) as [string[]];

    expect(failures).toEqual([]);
  });
});

/** In a thread, so that a client is faster than the server now and then. */
const READERS = `
  const { Agent, get } = require('node:https');
  const { workerData: { port, CLIENTS, REQUESTS }, parentPort } = require('node:worker_threads');
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS, rejectUnauthorized: false });
  const failures = [];
  const read = () => new Promise((resolve) => {
    const fail = (error) => resolve(failures.push(error.code));
    get({ agent, port, host: '127.0.0.1' }, (answer) => answer.resume().on('end', resolve)).on('error', fail);
  });
  const client = async () => {
    for (let index = 0; index < REQUESTS; index++) await read();
  };
  Promise.all(Array.from({ length: CLIENTS }, client)).then(() => {
    agent.destroy();
    parentPort.postMessage(failures);
  });
`;
