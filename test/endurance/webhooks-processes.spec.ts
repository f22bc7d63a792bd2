import { DataSource } from 'typeorm';
import { times, waitFor } from '../../src/platform/testing';
import { aProduct } from '../support/builders';
import { type ServiceProcess, useServices } from '../support/service-process';
import { useTestApi } from '../support/test-api';
import { TO_LOOPBACK, useReceiver, verify } from '../support/webhook-receiver';

jest.setTimeout(240_000);

const WRITERS = 20;
const CHANGES_OF_WRITER = 30;
/** Workers of each instance. */
const PROCESSES = 2;
const PATIENCE = 120_000;

describe('A webhook of two instances with two processes each', () => {
  const api = useTestApi();
  const receiver = useReceiver();
  const services = useServices();
  let instances: ServiceProcess[];
  let token: string;

  beforeEach(async () => {
    ({ token } = await api.admin());
    const settings = {
      NODE_ENV: 'test',
      DATABASE_URL: api.app.databaseUrl,
      DATA_DIR: process.env.TEST_DIRECTORY!,
      PROCESSES: String(PROCESSES),
      WRITE_QUOTA: '0',
      // One delivery of a webhook at once in each process.
      WEBHOOK_CONCURRENCY: '4',
      ...TO_LOOPBACK,
    };
    instances = [await services.start(settings), await services.start(settings)];
  });

  /** Sends a request to one instance or the other. */
  async function send(method: string, path: string, body: object): Promise<{ id: number; secret: string }> {
    const instance = instances[Math.round(Math.random())];
    const answer = await instance.send(method, path, body, { Authorization: `Bearer ${token}` });
    expect(answer.status).toBeLessThan(300);
    return ((await answer.json()) as { data: { id: number; secret: string } }).data;
  }
  const product = () => send('POST', '/products', aProduct());

  it('gets each change once and in the order of its resource, from all four', async () => {
    const { secret } = await send('POST', '/webhooks', { url: receiver.current.url, types: ['products'] });
    const held = receiver.current.hold();
    for (let number = 0; number < 2 * instances.length * PROCESSES; number++) await product();
    // A process has no more than one under way, so each of them holds one.
    await waitFor(() => held.length === instances.length * PROCESSES, PATIENCE);

    let underWay = 0;
    let together = 0;
    receiver.current.answer = (received, response) => {
      verify(secret, received);
      together = Math.max(together, ++underWay);
      setImmediate(() => {
        underWay--;
        received.status = 204;
        response.writeHead(204).end();
      });
      return undefined;
    };
    for (const answer of held) answer();
    await Promise.all(
      times(WRITERS, async () => {
        const { id } = await product();
        for (let stock = 1; stock < CHANGES_OF_WRITER; stock++) await send('PATCH', `/products/${id}`, { stock });
      }),
    );

    const database = api.app.nest.get(DataSource);
    const events = await database.query<{ id: number; version: number }[]>(
      "SELECT resource_id::bigint AS id, version_after AS version FROM audit_events WHERE resource = 'products' ORDER BY audit_events.id",
    );
    await waitFor(() => receiver.current.accepted.length >= events.length, PATIENCE);
    const isEnded = async () => {
      const open = "SELECT count(*)::integer AS open FROM webhook_deliveries WHERE status <> 'DELIVERED'";
      return (await database.query<[{ open: number }]>(open))[0].open === 0;
    };
    await waitFor(isEnded, PATIENCE);

    const told = receiver.current.received.map(({ body: { data } }) => data);
    const versions = (of: { id: number; version: number | null }[]) => {
      const found: Record<number, (number | null)[]> = {};
      for (const { id, version } of of) (found[id] ??= []).push(version);
      return found;
    };
    // No attempt has failed, so a change that came twice would be one more.
    expect(versions(told)).toEqual(versions(events));
    expect(new Set(receiver.current.received.map(({ headers }) => headers['webhook-id'])).size).toBe(events.length);
    expect(together).toBeLessThanOrEqual(instances.length * PROCESSES);
    process.stdout.write(`${events.length} changes, ${told.length} deliveries, ${together} at once\n`);
  });
});
