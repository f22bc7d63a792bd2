import { DataSource } from 'typeorm';
import { times, waitFor } from '../../src/platform/testing';
import { aProduct } from '../support/builders';
import { BuiltService } from '../support/built-service';
import { useTestApi } from '../support/test-api';
import { type Received, TO_LOOPBACK, useReceiver, verify } from '../support/webhook-receiver';

const WRITERS = 20;
/** In all; the number is 10,000. */
const CHANGES = Number(process.env.WEBHOOK_CHANGES ?? 1_000);
const KILLS = 6;
/** Longer than a lease, which a killed instance leaves. */
const PATIENCE = 300_000 + CHANGES * 60;

/** Webhooks of a service that runs in several instances, and whose instances are killed. */
describe('A webhook, while two instances are killed at any moment', () => {
  const api = useTestApi();
  const receiver = useReceiver();
  const instances: BuiltService[] = [];
  const start = () =>
    BuiltService.start({ ...TO_LOOPBACK, WEBHOOK_MAX_DELAY: '2', DATABASE_URL: api.app.databaseUrl, WRITE_QUOTA: '0' });

  beforeAll(async () => void instances.push(await start(), await start()), 120_000);
  afterAll(() => Promise.all(instances.map((instance) => instance.stop())));

  /**
   * Sends it to one instance or the other until one answers: one of them always runs. Its effect may have happened before,
   * without an answer.
   */
  async function insist(token: string, method: string, path: string, body: object): Promise<{ id: number }> {
    for (let attempt = Math.round(Math.random()); ; attempt++) {
      try {
        const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` };
        const { url } = instances[attempt % 2];
        const answer = await fetch(`${url}/api/v1${path}`, { method, headers, body: JSON.stringify(body) });
        if (answer.status < 300) return ((await answer.json()) as { data: { id: number } }).data;
        if (answer.status < 500) throw new TypeError(`${method} ${path} answered ${answer.status}`);
      } catch (error) {
        if (error instanceof TypeError && error.message.includes('answered')) throw error;
      }
    }
  }

  async function killAgainAndAgain(): Promise<void> {
    for (let kills = 0; kills < KILLS; kills++) {
      const before = receiver.current.received.length;
      // In the middle of deliveries.
      await waitFor(() => receiver.current.received.length > before + 10, PATIENCE);
      await instances[kills % 2].stop();
      instances[kills % 2] = await start();
    }
  }

  it(
    'gets every change, signed and in the order of each resource, although it fails half the time',
    async () => {
      const { token } = await api.admin();
      const input = { url: receiver.current.url, types: ['products'] };
      const { secret } = (await insist(token, 'POST', '/webhooks', input)) as unknown as { secret: string };
      /** The version that the receiver has of each product. */
      const mirror = new Map<number, number>();
      const accepted = new Set<string>();
      const outOfOrder: string[] = [];
      let repeated = 0;
      const take = (received: Received) => {
        verify(secret, received);
        const { id, version } = received.body.data;
        const message = `${id} ${version}`;
        if (accepted.has(message)) repeated++;
        if ((mirror.get(id) ?? 0) > version!) outOfOrder.push(message);
        accepted.add(message);
        mirror.set(id, version!);
      };
      receiver.current.answer = (received) => {
        if (Math.random() < 0.5) return 500;
        take(received);
        return 204;
      };

      const writer = async () => {
        let id: number | undefined;
        for (let change = 0; change < CHANGES / WRITERS; change++) {
          if (id === undefined || change % 5 === 0) id = (await insist(token, 'POST', '/products', aProduct())).id;
          else await insist(token, 'PATCH', `/products/${id}`, { stock: change });
        }
      };
      await Promise.all([killAgainAndAgain(), ...times(WRITERS, writer)]);

      const database = api.app.nest.get(DataSource);
      const events = await database.query<{ change: string }[]>(
        "SELECT resource_id || ' ' || version_after AS change FROM audit_events WHERE resource = 'products' ORDER BY id",
      );
      await waitFor(() => accepted.size >= events.length, PATIENCE);
      const rows = await database.query<{ id: number; version: number }[]>('SELECT id, version FROM products');

      expect(outOfOrder).toEqual([]);
      expect([...accepted].sort()).toEqual(events.map(({ change }) => change).sort());
      expect(new Map(rows.map(({ id, version }) => [id, version]))).toEqual(new Map([...mirror].sort()));
      process.stdout.write(
        `${events.length} changes, ${receiver.current.received.length} attempts, ${repeated} repeated\n`,
      );
    },
    2 * PATIENCE,
  );
});
