import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { times, waitFor } from '../../src/platform/testing';
import { Fixtures } from '../support/fixtures';
import { BuiltService } from '../support/built-service';
import { useTestApi } from '../support/test-api';

const CLIENTS = 20;
const KILLS = 30;
/** The latest moment of a kill after the first success, in milliseconds. */
const LATEST_KILL = 150;
const PATIENCE = 60_000;
const STOCK = 1_000_000;
const PAUSE = 25;

describe('A key, while two instances are killed at any moment', () => {
  const api = useTestApi();
  const instances: BuiltService[] = [];
  const statuses = new Set<number>();
  /** Successes of each instance. */
  const answers = [0, 0];
  let killing = true;

  const start = () =>
    BuiltService.start({ DATABASE_URL: api.app.databaseUrl, LOG_LEVEL: 'info', MAX_OPEN_ORDERS: '1000000' });

  beforeAll(async () => {
    instances.push(await start(), await start());
  }, 120_000);

  afterAll(() => Promise.all(instances.map((instance) => instance.stop())));

  async function killAgainAndAgain(index: number): Promise<void> {
    for (let kills = 0; kills < KILLS / 2; kills++) {
      const before = answers[index];
      await waitFor(() => answers[index] > before, PATIENCE);
      await sleep(Math.random() * LATEST_KILL);
      await instances[index].stop();
      instances[index] = await start();
    }
  }

  interface Attempt {
    status: number;
    id?: number;
    replayed?: boolean;
  }

  /** Sends it once; a service that is gone has no status. */
  async function send({ url }: BuiltService, token: string, key: string, body: object): Promise<Attempt> {
    const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${token}`, 'Idempotency-Key': key };
    try {
      const answer = await fetch(`${url}/api/v1/orders`, { method: 'POST', headers, body: JSON.stringify(body) });
      const { data } = (await answer.json()) as { data?: { id: number } };
      return { status: answer.status, id: data?.id, replayed: answer.headers.has('idempotent-replayed') };
    } catch {
      return { status: 0 };
    }
  }

  /** Sends the request until it is answered with a success, now to one instance, now to the other. */
  async function insist(token: string, key: string, body: object): Promise<number> {
    for (let attempt = Math.round(Math.random()); ; attempt++) {
      const { status, id } = await send(instances[attempt % 2], token, key, body);
      statuses.add(status);
      if (status === 201) answers[attempt % 2]++;
      if (status === 201) return id!;
      await sleep(PAUSE);
    }
  }

  async function auditedOrders(userId: number): Promise<number[]> {
    const events = await api.app.nest.get(DataSource).query<{ id: number }[]>(
      `SELECT resource_id::bigint AS id FROM audit_events
          WHERE user_id = $1 AND resource = 'orders' AND action = 'CREATED' ORDER BY resource_id::bigint`,
      [userId],
    );
    return events.map(({ id }) => id);
  }

  async function auditedVersions(productId: number): Promise<number[]> {
    const events = await api.app.nest.get(DataSource).query<{ version: number }[]>(
      `SELECT version_after AS version FROM audit_events
          WHERE resource = 'products' AND resource_id = $1::text AND action = 'UPDATED' ORDER BY version_after`,
      [productId],
    );
    return events.map(({ version }) => version);
  }

  it('is known to the other instance', async () => {
    const owner = await api.user();
    const product = await new Fixtures(api, owner).product();
    const body = { items: [{ product_id: product.id, quantity: 1 }] };
    const [first, second] = [
      await send(instances[0], owner.token, 'the same', body),
      await send(instances[1], owner.token, 'the same', body),
    ];

    expect(first).toMatchObject({ status: 201, replayed: false });
    expect(second).toEqual({ status: 201, replayed: true, id: first.id });
  });

  it('makes exactly one order for each key', async () => {
    const owner = await api.user();
    const product = await new Fixtures(api, owner).product({ stock: STOCK });
    const body = { items: [{ product_id: product.id, quantity: 1 }] };
    const answered = new Map<string, number>();
    const client = async () => {
      while (killing) {
        const key = randomUUID();
        answered.set(key, await insist(owner.token, key, body));
      }
    };
    const clients = times(CLIENTS, client);
    await Promise.all([0, 1].map(killAgainAndAgain));
    killing = false;
    await Promise.all(clients);

    const database = api.app.nest.get(DataSource);
    const orders = await database.query<{ id: number }[]>('SELECT id FROM orders WHERE user_id = $1 ORDER BY id', [
      owner.id,
    ]);
    const [{ stock }] = await database.query<{ stock: number }[]>('SELECT stock FROM products WHERE id = $1', [
      product.id,
    ]);
    expect([...statuses].filter((status) => ![0, 201, 409, 503].includes(status))).toEqual([]);
    // That an attempt was cut off is what this is about.
    expect(statuses).toContain(0);
    expect(answered.size).toBeGreaterThan(KILLS);
    expect(orders.map(({ id }) => id)).toEqual([...answered.values()].sort((one, other) => one - other));
    expect(stock).toBe(STOCK - answered.size);
    expect(await auditedOrders(owner.id)).toEqual(orders.map(({ id }) => id));
    // One for each version, and none of a transaction that was cut off.
    expect(await auditedVersions(product.id)).toEqual(times(answered.size, (index) => index + 2));
  }, 300_000);
});
