import { Client } from 'pg';
import { ServiceMetrics } from '../../src/platform/metrics';
import { MetricsEndpoint } from '../../src/platform/process/metrics-endpoint';
import { answered } from '../../src/platform/signals/answered';
import { type Answer, atOnce, RowLock, times, waitFor } from '../../src/platform/testing';
import { EventReader } from '../support/event-reader';
import { samplesOf, Scraper, valueOf } from '../support/prometheus-text';
import { useTestApi } from '../support/test-api';

const GET_USER = { method: 'GET', route: '/api/users/:id', version: '1' };

function created({ status, body }: Answer): { id: number } {
  expect(status).toBe(201);
  return body.data;
}

/** Without Redis, whose counters other tests share. */
const SETTINGS = { METRICS_PORT: '0', PUBLIC_RATE_LIMIT: '1', LOGIN_RATE_LIMIT: '2', REDIS_URL: '' };

describe('The metrics of an instance', () => {
  const api = useTestApi({ settings: SETTINGS });
  const metrics = new Scraper(() => api.app.nest.get(MetricsEndpoint).port!);
  /** What was added meanwhile to a counter. */
  const growth = async (name: string, labels: Record<string, string>, ask: () => Promise<unknown>) => {
    const before = await metrics.value(name, labels);
    await ask();
    return (await metrics.value(name, labels)) - before;
  };

  it('count requests by method, route pattern, version and status, with their time', async () => {
    const user = await api.user();
    await api.as(user).get(`/users/${user.id}`);
    await api.as(user).get(`//api/v2/users/${user.id}`);
    await api.get(`/users/${user.id}`);

    const samples = await metrics.samples();
    expect(valueOf(samples, 'http_requests_total', { ...GET_USER, status: '200' })).toBe(1);
    expect(valueOf(samples, 'http_requests_total', { ...GET_USER, status: '401' })).toBe(1);
    expect(valueOf(samples, 'http_requests_total', { ...GET_USER, version: '2' })).toBe(1);
    expect(valueOf(samples, 'http_request_duration_seconds_count', GET_USER)).toBe(2);
    expect(valueOf(samples, 'http_request_duration_seconds_bucket', { ...GET_USER, le: '+Inf' })).toBe(2);
    expect(valueOf(samples, 'http_request_duration_seconds_sum', GET_USER)).toBeGreaterThan(0);
  });

  it('count statements by their first word and outcome', async () => {
    const ok = { statement: 'INSERT', outcome: 'ok' };
    const name = 'database_statement_duration_seconds_count';
    const user = await api.user();
    const taken = { username: user.username, email: 'somebody@example.com', password: user.password };

    expect(await growth(name, ok, () => api.user())).toBeGreaterThanOrEqual(1);
    expect(await growth(name, { ...ok, outcome: 'failed' }, () => api.post('/users', taken))).toBe(1);
  });

  it('count several statements in one message by the last one, as the answer to a key is stored with its COMMIT', async () => {
    const ok = { statement: 'COMMIT', outcome: 'ok' };
    const author = api.as(await api.user());
    const write = () => author.post('/posts', { title: 'A post', content: 'A text' }, { 'Idempotency-Key': 'counted' });
    expect(await growth('database_statement_duration_seconds_count', ok, write)).toBeGreaterThanOrEqual(1);
  });

  it('know open streams and long polls by a gauge, and leave them out of the durations', async () => {
    const user = await api.user();
    const bearer = { Authorization: `Bearer ${user.token}` };
    const count = { method: 'GET', route: '/api/changes' };
    const durations = () => metrics.value('http_request_duration_seconds_count', count);
    const answers = () => metrics.value('http_requests_total', { ...count, status: '200' });
    const open = async () =>
      Promise.all(['stream', 'poll'].map((kind) => metrics.value('api_change_listeners', { kind })));
    const before = [await durations(), await answers()];
    expect(await open()).toEqual([0, 0]);
    const stream = await EventReader.open(`${api.url}/api/v1/changes`, bearer);
    const poll = api.as(user).get('/changes?wait=30&cursor=now');
    await waitFor(async () => (await open()).join() === '1,1');

    created(await api.as(await api.admin()).post('/products', { name: 'A bowl', price: 1 }));
    expect((await poll).status).toBe(200);
    stream.close();
    await waitFor(async () => (await open()).join() === '0,0');
    expect([await durations(), await answers()]).toEqual([before[0], before[1] + 2]);
    expect((await api.as(user).get('/changes?cursor=now')).status).toBe(200);
    expect([await durations(), await answers()]).toEqual([before[0] + 1, before[1] + 3]);
  });

  it('tell for how long a transaction holds the feed of changes back', async () => {
    const heldBack = () => metrics.value('api_changes_held_back_seconds');
    const client = new Client({ connectionString: api.app.databaseUrl });
    await client.connect();
    await client.query('BEGIN');
    await client.query("INSERT INTO products (name, price) VALUES ('A jar', 1)");
    created(await api.as(await api.admin()).post('/products', { name: 'A jug', price: 1 }));
    await waitFor(async () => (await heldBack()) > 2);
    const samples = await metrics.samples();
    expect(samples.filter(({ name }) => name === 'api_changes_held_back_seconds')).toHaveLength(1);

    await client.end();
    await waitFor(async () => (await heldBack()) === 0);
  });

  it('show requests in flight, connections in use, and those who wait for one', async () => {
    const admin = api.as(await api.admin());
    const { id } = created(await admin.post('/products', { name: 'A cup', price: 1 }));
    const lock = await RowLock.of(api.app.databaseUrl, 'products', id);
    const writes = times(20, () => admin.patch(`/products/${id}`, { name: 'A mug' }));
    await waitFor(async () => (await metrics.value('database_connections', { state: 'waited_for' })) > 0);

    const samples = await metrics.samples();
    expect(valueOf(samples, 'http_requests_in_flight')).toBe(20);
    expect(valueOf(samples, 'database_connections', { state: 'in_use' })).toBeGreaterThanOrEqual(10);
    await lock.release();
    await Promise.all(writes);
    const after = await metrics.samples();
    expect(valueOf(after, 'http_requests_in_flight')).toBe(0);
    expect(valueOf(after, 'database_connections', { state: 'waited_for' })).toBe(0);
    expect(valueOf(after, 'database_connections', { state: 'idle' })).toBeGreaterThan(0);
  });

  it('count sign-ins by outcome, and what limits have refused', async () => {
    const { username, password } = await api.user();
    const signIn = (typed: string) => api.post('/auth/tokens', { username, password: typed });
    const wrong = { event: 'authn_login_fail', outcome: 'failure' };
    const events = 'api_security_events_total';

    expect(await growth(events, { event: 'authn_login_success' }, () => signIn(password))).toBe(1);
    expect(await growth(events, wrong, () => signIn('wrong'))).toBe(1);
    const limit = { limit: 'sign-in by account_and_address' };
    expect(
      await growth('api_rate_limited_total', limit, () => atOnce([1, 2, 3], () => signIn('wrong'))),
    ).toBeGreaterThan(0);
    expect(
      await growth('api_rate_limited_total', { limit: 'public' }, () => atOnce([1, 2, 3], () => api.get('/public'))),
    ).toBe(2);
  });

  it('count repeated POSTs that got their first answer, and refused preconditions', async () => {
    const admin = api.as(await api.admin());
    const post = () => admin.post('/products', { name: 'A plate', price: 2 }, { 'Idempotency-Key': 'of metrics' });
    const { id } = created(await post());
    const stale = () => admin.patch(`/products/${id}`, { price: 3 }, { 'If-Match': '"99"' });

    expect(await growth('api_idempotent_replays_total', {}, post)).toBe(1);
    expect(await growth('http_requests_total', { route: '/api/products/:id', status: '412' }, stale)).toBe(1);
  });

  it('tell the build, memory, event loop and garbage collector', async () => {
    const samples = await metrics.samples();

    expect(samples.find(({ name }) => name === 'api_build_info')?.labels).toEqual({
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      node: process.version,
    });
    expect(valueOf(samples, 'nodejs_heap_size_used_bytes')).toBeGreaterThan(1_000_000);
    expect(valueOf(samples, 'process_cpu_seconds_total')).toBeGreaterThan(0);
    const names = new Set(samples.map(({ name }) => name));
    expect([...names]).toEqual(
      expect.arrayContaining(['nodejs_eventloop_lag_p99_seconds', 'process_start_time_seconds', 'api_processes']),
    );
  });

  it('are on their own port alone, at one path, for reading', async () => {
    expect(await api.get('//metrics')).toMatchObject({ status: 404 });
    expect((await fetch(metrics.url.replace('/metrics', '/'))).status).toBe(404);
    const posted = await fetch(metrics.url, { method: 'POST' });
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    const head = await fetch(metrics.url, { method: 'HEAD' });
    expect(head.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  });
});

describe('The metrics of an instance whose database does not answer', () => {
  it('come without what the database would have said', async () => {
    const connections = () => ({ inUse: 0, idle: 0, waiting: 0 });
    const sources = { requestsInFlight: () => 7, connections };
    const never = new Promise<number>(() => undefined);
    for (const changesHeldBack of [() => never, () => Promise.reject(new Error('no connection'))]) {
      const metrics = new ServiceMetrics({ ...sources, changesHeldBack });
      const samples = samplesOf(await metrics.text());
      metrics.end();

      expect(valueOf(samples, 'http_requests_in_flight')).toBe(7);
      expect(samples.filter(({ name }) => name === 'api_changes_held_back_seconds')).toEqual([]);
    }
  });
});

describe('An instance without METRICS_PORT', () => {
  const api = useTestApi();

  it('has no port for metrics, and measures nothing', () => {
    expect(api.app.nest.get(MetricsEndpoint).port).toBeUndefined();
    expect(answered.isHeard).toBe(false);
    // The driver's own method, not one that measures.
    expect(Client.prototype.query.name).toBe('query');
  });
});
