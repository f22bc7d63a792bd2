import { Client as Connection } from 'pg';
import { DataSource } from 'typeorm';
import { type Client, expectSuccess, waitFor } from '../../src/platform/testing';
import { retryAfterOf } from '../../src/resources/webhooks/sending/retry-after';
import { aProduct } from '../support/builders';
import { useTestApi } from '../support/test-api';
import { TO_LOOPBACK, useReceiver } from '../support/webhook-receiver';

interface Hook {
  id: number;
  status: string;
}

interface Delivery {
  status: string;
  attempts: number;
  attempted_at: string;
  response_status: number | null;
  next_attempt_at: string;
}

/** In seconds. */
const MAX_DELAY = 600;

describe('What a receiver answers', () => {
  const api = useTestApi({ deliverAfter: 0, settings: { ...TO_LOOPBACK, WEBHOOK_MAX_DELAY: String(MAX_DELAY) } });
  const receiver = useReceiver();
  const database = () => api.app.nest.get(DataSource);
  let admin: Client;

  beforeAll(async () => (admin = api.as(await api.admin())));
  afterEach(() => database().query('DELETE FROM webhooks'));

  const create = async (path = ''): Promise<Hook> => {
    const body = { url: `${receiver.current.url}${path}`, types: ['products'] };
    return expectSuccess(await admin.post('/webhooks', body), 201, 'Created') as Hook;
  };
  const product = async () =>
    expectSuccess(await admin.post('/products', aProduct()), 201, 'Created') as { id: number };
  const patch = async ({ id }: Hook, body: object) => void expectSuccess(await admin.patch(`/webhooks/${id}`, body));
  const statusOf = async ({ id }: Hook) => (expectSuccess(await admin.get(`/webhooks/${id}`)) as Hook).status;
  const deliveriesOf = async ({ id }: Hook) => {
    const { body } = await admin.get(`/webhooks/${id}/deliveries`);
    return body.data as Delivery[];
  };
  /** Answers by a status and `Retry-After`. */
  const askFor = (status: number, retryAfter: string) => {
    receiver.current.answer = (received, response) => {
      received.status = status;
      response.writeHead(status, { 'Retry-After': retryAfter }).end();
      return undefined;
    };
  };
  const firstFailure = async (hook: Hook) => {
    await waitFor(async () => (await deliveriesOf(hook))[0]?.response_status != null);
    return (await deliveriesOf(hook))[0];
  };

  it('disables the webhook at once by 410, with an event, until an administrator sets it ACTIVE', async () => {
    const hook = await create();
    receiver.current.answer = () => 410;
    await product();
    await waitFor(async () => (await statusOf(hook)) === 'DISABLED');

    await waitFor(async () => (await deliveriesOf(hook))[0].response_status === 410);
    expect(await deliveriesOf(hook)).toMatchObject([{ status: 'PENDING', attempts: 1 }]);
    const { body } = await admin.get(`/audit-events?resource=webhooks&resource_id=${hook.id}&order=desc`);
    expect(body.data[0]).toMatchObject({
      action: 'WEBHOOK_DISABLED',
      user_id: null,
      details: { response_status: 410 },
    });
    receiver.current.answer = () => 204;
    await patch(hook, { status: 'ACTIVE' });
    await waitFor(async () => (await deliveriesOf(hook))[0].status === 'DELIVERED');
  });

  it('ends in no deadlock with the deletion of the webhook, whatever it changes', async () => {
    const hook = await create();
    receiver.current.answer = () => 503;
    const held = new Connection({ connectionString: api.app.databaseUrl });
    await held.connect();
    await held.query('BEGIN');
    // The failure would disable it.
    const old = "UPDATE webhook_progress SET failing_since = now() - interval '121 hours' WHERE webhook_id = $1";
    await database().query(old, [hook.id]);
    await held.query('SELECT FROM webhook_progress WHERE webhook_id = $1 FOR UPDATE', [hook.id]);
    const waiting = async (count: number) => {
      const text = `SELECT count(*)::integer AS count FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock' AND query NOT LIKE '%SKIP LOCKED%'`;
      await waitFor(async () => (await database().query<[{ count: number }]>(text))[0].count === count);
    };
    const test = await admin.post(`/webhooks/${hook.id}/deliveries`);
    expectSuccess(test, 201, 'Created');
    await waiting(1);
    const deletion = admin.delete(`/webhooks/${hook.id}`);
    await waiting(2);
    await held.end();

    expect((await deletion).status).toBe(204);
    await waitFor(async () => (await database().query('SELECT FROM webhook_deliveries')).length === 0);
    expect(JSON.stringify(api.app.log)).not.toContain('left to its next turn');
  });

  it('is no matter of a URL that the webhook has no more', async () => {
    const hook = await create();
    const held = receiver.current.hold(410);
    await product();
    await waitFor(() => held.length === 1);
    await patch(hook, { url: `${receiver.current.url}/moved` });
    receiver.current.answer = () => 204;
    held[0]();

    await waitFor(async () => (await deliveriesOf(hook))[0].status === 'DELIVERED');
    expect(await statusOf(hook)).toBe('ACTIVE');
  });

  it.each([
    ['429 and seconds', 429, () => '300', 300],
    ['503 and a date', 503, () => new Date(Date.now() + 300_000).toUTCString(), 299],
    ['503 and more than the longest delay', 503, () => '86400', MAX_DELAY],
  ])('is waited for at least as long as it says: %s', async (_case, status, retryAfter, least) => {
    const hook = await create();
    askFor(status, retryAfter());
    await product();

    const { attempted_at, next_attempt_at } = await firstFailure(hook);
    const delay = (Date.parse(next_attempt_at) - Date.parse(attempted_at)) / 1_000;
    expect(delay).toBeGreaterThanOrEqual(least - 1);
    // A tenth at random, and what the attempt itself has taken.
    expect(delay).toBeLessThan(1.1 * MAX_DELAY + 10);
  });

  it('holds back all that is sent to the webhook by Retry-After, and nothing that is sent to others', async () => {
    const hook = await create();
    askFor(429, '300');
    await product();
    await firstFailure(hook);
    receiver.current.answer = () => 204;
    const other = await create('/other');
    await product();
    await product();
    await waitFor(async () => (await deliveriesOf(other)).filter(({ status }) => status === 'DELIVERED').length === 2);
    await waitFor(async () => (await deliveriesOf(hook)).length === 3);
    // One that comes after them, so the others have had their turn.
    expectSuccess(await admin.post(`/webhooks/${other.id}/deliveries`), 201, 'Created');
    await waitFor(() => receiver.current.accepted.length === 3);
    expect((await deliveriesOf(hook)).map(({ attempts }) => attempts)).toEqual([1, 0, 0]);

    await patch(hook, { description: 'Somebody has looked after it' });
    await waitFor(() => receiver.current.accepted.length === 5);
    expect((await deliveriesOf(hook))[0].attempts).toBe(1);
  });
});

describe('Retry-After', () => {
  const now = Date.parse('2026-01-31T12:00:00.500Z');

  it.each([
    [503, '120', 120],
    [429, '0', 0],
    [429, 'Sat, 31 Jan 2026 12:00:10 GMT', 10],
    [503, 'Sat, 31 Jan 2026 11:00:00 GMT', 0],
    [500, '120', undefined],
    [301, '120', undefined],
    [503, '', undefined],
    [503, '-1', undefined],
    [503, '1.5', undefined],
    [503, '9999999999', undefined],
    [503, 'Sat, 99 Jan 2026 12:00:10 GMT', undefined],
    [503, '2026-01-31T12:00:10Z', undefined],
    [503, undefined, undefined],
  ])('of %i is read: %s', (statusCode, text, expected) => {
    expect(retryAfterOf({ statusCode, headers: { 'retry-after': text } }, now)).toBe(expected);
  });
});
