import fc from 'fast-check';
import { Agent, request } from 'node:http';
import { DeclaredAccess } from '../../src/platform/auth/declared-access';
import { MetricsEndpoint } from '../../src/platform/process/metrics-endpoint';
import { Scraper } from '../support/prometheus-text';
import { useTestApi } from '../support/test-api';

jest.setTimeout(240_000);

const REQUESTS = 10_000;
const AT_ONCE = 20;
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'PROPFIND', 'PURGE', 'MKCOL'];
const segment = fc.oneof(
  fc.constantFrom(
    'api',
    'v1',
    'v2',
    'v3',
    'users',
    'products',
    'orders',
    'public',
    'uploads',
    'health',
    'docs',
    '.well-known',
  ),
  fc.nat().map(String),
  fc.uuid(),
  fc.string({ maxLength: 20 }).map(encodeURIComponent),
);
const below = fc.tuple(
  fc.constantFrom('/api/v1', '/api/v2', '/api'),
  fc.constantFrom('users', 'products', 'orders', 'posts', 'comments', 'uploads', 'auth'),
  fc.oneof(segment, fc.constant('')),
);
const anywhere = fc.array(segment, { minLength: 1, maxLength: 5 }).map((segments) => `/${segments.join('/')}`);
const path = fc.oneof(
  anywhere,
  below.map((parts) => parts.join('/')),
);
const anyRequest = fc.record({
  method: fc.constantFrom(...METHODS),
  path,
  headers: fc.record({
    Accept: fc.constantFrom('*/*', 'application/json', 'text/nonsense', 'application/vnd.api+json;version=2'),
  }),
});

/** Sends a request on a connection that is used again. */
function send(agent: Agent, port: number, asked: { method: string; path: string; headers: object }): Promise<unknown> {
  return new Promise((resolve) => {
    const sent = request({ agent, port, host: '127.0.0.1', ...asked, headers: { ...asked.headers } }, (answer) => {
      answer.resume().on('end', resolve).on('error', resolve);
    });
    sent.on('error', resolve).end();
  });
}

describe('The series of the metrics', () => {
  const api = useTestApi({ settings: { METRICS_PORT: '0' } });
  const metrics = new Scraper(() => api.app.nest.get(MetricsEndpoint).port!);

  it('are bounded by what the code declares, whatever ten thousand requests ask for', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
    const asked = fc.sample(anyRequest, { numRuns: REQUESTS, seed: 16 });
    const rest = asked.values();
    const sendRest = async () => {
      for (const one of rest) await send(agent, api.app.port, one);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, sendRest));
    agent.destroy();

    const samples = (await metrics.samples()).filter(({ name }) => name.startsWith('http_'));
    const of = (label: string) => [...new Set(samples.flatMap(({ labels }) => labels[label] ?? []))];
    const count = samples
      .filter(({ name }) => name === 'http_requests_total')
      .reduce((sum, { value }) => sum + value, 0);
    const declared = api.app.nest.get(DeclaredAccess).routes().length;

    expect(count).toBeGreaterThanOrEqual(REQUESTS);
    expect(of('method').filter((method) => !METHODS.slice(0, 7).includes(method))).toEqual(['other']);
    expect(of('version').sort()).toEqual(['', '1', '2']);
    expect(of('route').filter((route) => /\d{2}|%|nonsense/.test(route))).toEqual([]);
    expect(of('route')).toEqual(expect.arrayContaining(['unmatched', '/api/users/:id', '/api/products']));
    expect(of('route').length).toBeLessThanOrEqual(declared + 10);
    // In each version a route has few statuses, and the buckets of its histogram.
    expect(samples.length).toBeLessThan(declared * 2 * 30);
  });
});
