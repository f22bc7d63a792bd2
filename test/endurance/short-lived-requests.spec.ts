import { randomUUID } from 'node:crypto';
import { Client, times } from '../../src/platform/testing';
import { Fixtures } from '../support/fixtures';
import { type ServiceProcess, useServices } from '../support/service-process';
import { useTestApi } from '../support/test-api';

jest.setTimeout(120_000);

const CLIENTS = 32;
const REQUESTS = 1_500;
/** The first requests meet a heap that still grows. */
const WARM_UP = 500;
/** The part of its bytes that a request may leave behind, after the next collections of young objects. */
const MAX_PART = 0.02;
/** The heap of the image, which holds some fifty requests of the young. */
const OPTIONS = [
  ...['--min-semi-space-size=16', '--max-semi-space-size=16', '--no-allocation-site-pretenuring'],
  ...['--trace-gc', '--trace-gc-nvp'],
];
const UNLIMITED = '1000000000';

type Send = (caller: Client, number: number) => Promise<{ status: number }>;

const product = (number: number) => ({ name: `Chair ${number}`, description: 'Of oak', price: 12.5, stock: 5 });

/**
 * V8 keeps what an object in the old generation refers to, until a major collection. One such object for each request, e.g.
 * an entry of a WeakMap, keeps whole requests. docs/performance.md lists what has done that.
 */
describe('What a request has allocated is freed with the young objects', () => {
  const api = useTestApi();
  const services = useServices({ keep: true });
  let service: ServiceProcess;
  let admin: Client;
  let ids: number[];

  beforeAll(async () => {
    const settings = {
      NODE_ENV: 'test',
      HOST: '127.0.0.1',
      DATABASE_URL: api.app.databaseUrl,
      DATA_DIR: process.env.TEST_DIRECTORY!,
      WRITE_QUOTA: '0',
      MAX_OPEN_ORDERS: UNLIMITED,
      IDEMPOTENCY_KEY_LIMIT: UNLIMITED,
      MIN_FREE_DISK: '0',
    };
    service = await services.start(settings, OPTIONS);
    const caller = await api.admin();
    admin = new Client(() => service.url!, { Authorization: `Bearer ${caller.token}` });
    const own = new Fixtures(api, caller);
    ids = await Promise.all(times(CLIENTS, async () => (await own.product({ stock: 1_000_000 })).id));
  });

  const WORKS: [route: string, send: Send][] = [
    ['GET /products/{id}', (caller, number) => caller.get(`/products/${ids[number % CLIENTS]}`)],
    ['GET /products', (caller, number) => caller.get(`/products?size=${1 + (number % 20)}`)],
    ['GET /products of version 2', (caller, number) => caller.get(`//api/v2/products?size=${1 + (number % 20)}`)],
    ['GET /products by a search', (caller, number) => caller.get(`/products?search=chair&size=${1 + (number % 20)}`)],
    ['POST /products', (caller, number) => caller.post('/products', product(number))],
    ['POST /products of several', (caller, number) => caller.post('/products', [product(number), product(number)])],
    [
      'POST /products with a key',
      (caller, number) => caller.post('/products', product(number), { 'Idempotency-Key': randomUUID() }),
    ],
    ['PATCH /products/{id}', (caller, number) => caller.patch(`/products/${ids[number % CLIENTS]}`, { price: number })],
    [
      'POST /orders',
      (caller, number) => caller.post('/orders', { items: [{ product_id: ids[number % CLIENTS], quantity: 1 }] }),
    ],
  ];

  it.each(WORKS)('by %s', async (_route, send) => {
    await sendMany(send, WARM_UP);
    const before = service.lines.length;
    await sendMany(send, REQUESTS);
    const collections = service.lines.slice(before).filter((line) => line.includes('gc=s '));

    expect(collections.length).toBeGreaterThan(1);
    expect(sumOf(collections, 'promoted') / sumOf(collections, 'allocated')).toBeLessThan(MAX_PART);
  });

  async function sendMany(send: Send, count: number): Promise<void> {
    let number = 0;
    const client = async () => {
      while (number < count) {
        const { status } = await send(admin, ++number);
        if (status >= 300) throw new Error(`Status ${status}`);
      }
    };
    await Promise.all(times(CLIENTS, client));
  }

  const sumOf = (lines: string[], name: string) =>
    lines.reduce((sum, line) => sum + Number(new RegExp(`\\b${name}=(\\d+)`).exec(line)![1]), 0);
});
