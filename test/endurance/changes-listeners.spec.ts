import { connect, type Socket } from 'node:net';
import { DEMO_PASSWORD } from '../../src/demo/content';
import { cloneTemplate, waitFor } from '../../src/platform/testing';
import { BuiltService } from '../support/built-service';
import { DemoClient } from '../support/demo-client';

/** More need as many open files of this process and of the service: `ulimit -n`. */
const LISTENERS = Number(process.env.LISTENERS ?? 1_000);
/** Connections that are opened at once. */
const STEP = 100;
/** Bytes of the heap for each listener. Node's connection, request and response take most of them. */
const MAX_BYTES = 40 * 1024;
const PATIENCE = 60_000;

/** A connection that follows the feed, and counts what it is told. */
class Listener {
  begun = false;
  told = 0;
  ended = false;
  private readonly socket: Socket;

  constructor(port: number, token: string) {
    this.socket = connect({ port, host: '127.0.0.1' });
    const head = ['GET /api/v1/changes?types=products HTTP/1.1', 'Host: localhost', 'Accept: text/event-stream'];
    this.socket.write([...head, `Authorization: Bearer ${token}`, '', ''].join('\r\n'));
    this.socket.on('data', (bytes) => this.take(bytes.toString('latin1')));
    this.socket.on('error', () => undefined).on('close', () => (this.ended = true));
  }

  destroy(): void {
    this.socket.destroy();
  }

  private take(text: string): void {
    this.begun ||= text.includes('retry:');
    this.told += text.split('event: change').length - 1;
  }
}

describe('Many who follow the feed of changes', () => {
  let service: BuiltService;
  let drop: () => Promise<void>;
  let admin: DemoClient;
  let ada: DemoClient;
  const listeners: Listener[] = [];

  beforeAll(async () => {
    const database = await cloneTemplate();
    drop = database.drop;
    const settings = { CHANGES_LISTENERS_PER_USER: '100000', CHANGES_LISTENERS_PER_NETWORK: '100000' };
    service = await BuiltService.start(
      { DATABASE_URL: database.url, DEMO_DATA: 'true', MIN_FREE_DISK: '0', ...settings },
      { watched: true },
    );
    admin = await DemoClient.signIn(service.url, 'grace', DEMO_PASSWORD);
    ada = await DemoClient.signIn(service.url, 'ada', DEMO_PASSWORD);
  }, PATIENCE);

  afterAll(async () => {
    for (const listener of listeners) listener.destroy();
    await service?.stop();
    await drop?.();
  });

  it(
    `take little memory each, are told at once, and keep nobody waiting: ${LISTENERS}`,
    async () => {
      const before = await service.vitals();
      while (listeners.length < LISTENERS) {
        for (let count = 0; count < STEP; count++) listeners.push(new Listener(service.port, ada.token));
        await waitFor(() => listeners.every(({ begun }) => begun), PATIENCE);
      }
      const after = await service.vitals();
      const product = { name: 'For many', price: 1, stock: 1 };
      const { status, data } = await admin.post('/products', product);
      expect(status).toBe(201);
      await waitFor(() => listeners.every(({ told }) => told === 1), PATIENCE);
      for (let stock = 2; stock < 12; stock++) await admin.patch(`/products/${data.id}`, { stock });
      await waitFor(() => listeners.every(({ told }) => told === 11), PATIENCE);

      expect((after.heap - before.heap) / LISTENERS).toBeLessThan(MAX_BYTES);
      // Thousands are told in pieces.
      expect(await service.longestBlock()).toBeLessThan(500);
      expect(listeners.filter(({ ended }) => ended)).toEqual([]);
    },
    4 * PATIENCE,
  );
});
