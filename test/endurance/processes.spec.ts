import { times, waitFor } from '../../src/platform/testing';
import { Load } from '../support/load';
import { hasEnded, isAlive, postmasterOf, type ServiceProcess, useServices } from '../support/service-process';
import { useTestApi } from '../support/test-api';

jest.setTimeout(240_000);

const PROCESSES = '2';
/** The connections of each kind of load. They are few, as the machine also has to start the worker that relieves another. */
const CONNECTIONS = 3;
/** Clients that ask while one of the processes stands still. */
const ASKING = 20;
const json = { NODE_ENV: 'test' };

/** The processes that have answered a request, as the log names them. */
function pidsOf(service: ServiceProcess): number[] {
  const lines = service.lines.filter((line) => line.includes('"msg":"request"'));
  return [...new Set(lines.map((line) => (JSON.parse(line) as { pid: number }).pid))];
}

/** Asks, on a connection each, until so many processes have answered. */
async function workersOf(service: ServiceProcess, count: number): Promise<number[]> {
  await waitFor(async () => {
    await service.get('/health/live');
    return pidsOf(service).length >= count;
  });
  return pidsOf(service);
}

describe('Several processes on one port', () => {
  const api = useTestApi();
  const services = useServices();
  const start = (settings = {}) =>
    services.start({
      ...json,
      DATABASE_URL: api.app.databaseUrl,
      DATA_DIR: process.env.TEST_DIRECTORY!,
      PROCESSES,
      ...settings,
    });

  it('share the work, count for rate limits together, and end with the process that started them, however it ends', async () => {
    const service = await start({ PUBLIC_RATE_LIMIT: '5' });
    const workers = await workersOf(service, 2);
    const answers = await Promise.all(times(20, () => service.get('/api/v1/public')));

    expect(workers).toHaveLength(2);
    expect(workers).not.toContain(service.pid);
    expect(service.lines.filter((line) => line.includes('http://localhost'))).toHaveLength(2);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(5);
    await service.stop('SIGKILL');
    await Promise.all(workers.map(hasEnded));
  });

  it('all end when each of them gets the signal, as from a terminal', async () => {
    const service = await start();
    const workers = await workersOf(service, 2);
    for (const pid of workers) process.kill(pid, 'SIGINT');

    expect(await service.stop('SIGINT')).toBe(0);
    await Promise.all(workers.map(hasEnded));
    expect(service.stdout).not.toContain('another takes its place');
    expect(service.stderr).toBe('');
  });

  describe('under load', () => {
    const load = async ({ port }: ServiceProcess) => {
      const what = { port, method: 'GET', path: '/api/v1/products', connections: CONNECTIONS };
      const loads = [Load.start({ ...what, keepAlive: true }), Load.start({ ...what, keepAlive: false })];
      await Promise.all(loads.map(({ warm }) => warm));
      return loads;
    };

    it('lose no request when one is told to end, which another relieves, and none when all are', async () => {
      const service = await start();
      const [leaving] = await workersOf(service, 2);
      const loads = await load(service);
      process.kill(leaving, 'SIGTERM');
      await hasEnded(leaving);

      expect((await workersOf(service, 3)).filter(isAlive)).toHaveLength(2);
      expect(await service.stop()).toBe(0);
      for (const { report } of loads) {
        expect(await report).toMatchObject({ answered: { 200: expect.any(Number) }, refused: CONNECTIONS, lost: [] });
      }
    });

    it('lose what one was answering when it was killed, and nothing else; another takes its place', async () => {
      const service = await start();
      const [victim] = await workersOf(service, 2);
      const loads = await load(service);
      process.kill(victim, 'SIGKILL');
      await waitFor(() => service.stdout.includes('another takes its place'));

      expect((await workersOf(service, 3)).filter(isAlive)).toHaveLength(2);
      expect(await service.stop()).toBe(0);
      for (const { report } of loads) {
        const { answered, refused, lost } = await report;
        expect(Object.keys(answered)).toEqual(['200']);
        expect(refused).toBe(CONNECTIONS);
        // A connection has one request at a time.
        expect(lost.length).toBeLessThanOrEqual(CONNECTIONS);
      }
    });
  });

  it('keep nobody waiting for one that stands still, but those whom it was given before that shows', async () => {
    const service = await start();
    const [still] = await workersOf(service, 2);
    process.kill(still, 'SIGSTOP');
    let answered = 0;
    const answers = times(ASKING, () => service.get('/health/live').finally(() => answered++));

    await waitFor(() => answered >= ASKING - 2).finally(() => process.kill(still, 'SIGCONT'));
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(times(ASKING, () => 200));
  });

  it('do not start when one can’t, and say why once', async () => {
    const service = services.spawn({ ...json, DATABASE_URL: 'postgres://nobody@127.0.0.1:1/x', PROCESSES: '4' });

    expect(await service.ended).toBe(1);
    expect(service.stderr.match(/The database can't be reached/g)).toHaveLength(1);
  });
});

describe('Several processes on the embedded database', () => {
  const services = useServices();

  it('share one, with its demo data, and stop it', async () => {
    const DATA_DIR = services.newDirectory();
    const service = await services.start({ ...json, DATA_DIR, PROCESSES });
    const server = postmasterOf(DATA_DIR)!;
    await workersOf(service, 2);
    const { pagination } = (await (await service.get('/api/v1/products')).json()) as { pagination: { total: number } };

    expect(pagination.total).toBeGreaterThan(5);
    expect(service.lines.filter((line) => /Sign in {2}ada|this machine alone/.test(line))).toHaveLength(2);
    await expect(fetch(`http://127.0.0.2:${service.port}/health/live`)).rejects.toThrow();
    expect(await service.stop()).toBe(0);
    await hasEnded(server);
  });

  it('stay on this machine while the demo password opens an account, also when DEMO_DATA is false by then', async () => {
    const DATA_DIR = services.newDirectory();
    await (await services.start({ ...json, DATA_DIR })).stop();

    const service = await services.start({ ...json, DATA_DIR, DEMO_DATA: 'false', PROCESSES });

    expect(service.lines.filter((line) => /Sign in {2}ada|this machine alone/.test(line))).toHaveLength(2);
    await expect(fetch(`http://127.0.0.2:${service.port}/health/live`)).rejects.toThrow();
    expect(await service.stop()).toBe(0);
  });
});
