import { connect } from 'node:net';
import { times, waitFor } from '../../src/platform/testing';
import { freePort } from '../support/free-port';
import { Scraper, valueOf } from '../support/prometheus-text';
import { hasEnded, type ServiceProcess, useServices } from '../support/service-process';
import { useTestApi } from '../support/test-api';

jest.setTimeout(240_000);

const PUBLIC = { route: '/api/public', status: '200' };

describe('The metrics of several processes', () => {
  const api = useTestApi();
  const services = useServices();
  let port: number;

  beforeEach(async () => {
    port = await freePort();
  });

  const start = (settings: Record<string, string> = {}) =>
    services.start({
      NODE_ENV: 'test',
      DATABASE_URL: api.app.databaseUrl,
      DATA_DIR: process.env.TEST_DIRECTORY!,
      PUBLIC_RATE_LIMIT: '1000000',
      PROCESSES: '2',
      METRICS_PORT: String(port),
      ...settings,
    });
  const scrape = () => new Scraper(() => port).samples();
  const counted = async () => valueOf(await scrape(), 'http_requests_total', PUBLIC);
  const ask = (service: ServiceProcess, count: number) =>
    Promise.all(times(count, () => service.get('/api/v1/public')));
  const workersOf = (service: ServiceProcess) => {
    const lines = service.lines.filter((line) => line.includes('"msg":"request"'));
    return [...new Set(lines.map((line) => (JSON.parse(line) as { pid: number }).pid))];
  };

  it('are one sum, which keeps what a process has counted that ended', async () => {
    const service = await start();
    await waitFor(async () => valueOf(await scrape(), 'api_processes') === 2);
    await ask(service, 40);
    expect(workersOf(service)).toHaveLength(2);
    expect(await counted()).toBe(40);

    const [relieved, killed] = workersOf(service);
    await ask(service, 10);
    process.kill(relieved, 'SIGTERM');
    await hasEnded(relieved);
    expect(await counted()).toBe(50);

    process.kill(killed, 'SIGKILL');
    await hasEnded(killed);
    await waitFor(async () => valueOf(await scrape(), 'api_processes') === 2);
    expect(await counted()).toBe(50);
    await ask(service, 10);
    expect(await counted()).toBe(60);
    expect(await service.stop()).toBe(0);
  });

  it('have gauges that are the sum, or the worst, and the build once', async () => {
    await start();
    await waitFor(async () => valueOf(await scrape(), 'api_processes') === 2);
    const samples = await scrape();
    const only = (name: string) => samples.filter((sample) => sample.name === name);

    expect(only('api_build_info').map(({ value }) => value)).toEqual([1]);
    expect(only('nodejs_eventloop_lag_p99_seconds')).toHaveLength(1);
    expect(valueOf(samples, 'process_start_time_seconds')).toBeLessThanOrEqual(Date.now() / 1_000);
    expect(valueOf(samples, 'http_requests_in_flight')).toBe(0);
    expect(valueOf(samples, 'api_silent_processes')).toBe(0);
  });

  it('come in time although a worker stands still, and say so', async () => {
    const service = await start();
    await waitFor(async () => valueOf(await scrape(), 'api_processes') === 2);
    await ask(service, 20);
    expect(await counted()).toBe(20);
    const [still] = workersOf(service);
    process.kill(still, 'SIGSTOP');
    const samples = await scrape();
    process.kill(still, 'SIGCONT');

    expect(valueOf(samples, 'http_requests_total', PUBLIC)).toBe(20);
    expect(valueOf(samples, 'api_silent_processes')).toBe(1);
    await waitFor(async () => valueOf(await scrape(), 'api_silent_processes') === 0);
  });

  it('wait for no client that reads slowly, and end with the service', async () => {
    const service = await start({ PROCESSES: '1' });
    const slow = connect(port, '127.0.0.1');
    slow.on('error', () => undefined).write('GET /metrics HTTP/1.1\r\nHost: x\r\n');
    await waitFor(async () => valueOf(await scrape(), 'api_processes') === 1);

    expect(await service.stop()).toBe(0);
    await expect(scrape()).rejects.toThrow();
    slow.destroy();
  });

  it('stop the start when their port is taken, with its name', async () => {
    const service = await start({ PROCESSES: '1' });
    const second = services.spawn({ NODE_ENV: 'test', DATABASE_URL: api.app.databaseUrl, METRICS_PORT: String(port) });

    expect(await second.ended).toBe(1);
    expect(second.stderr).toContain(`METRICS_PORT ${port} of 127.0.0.1 is taken by another process`);
    expect(service.running).toBe(true);
  });
});
