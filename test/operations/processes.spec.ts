import { postmasterOf, type ServiceProcess, useServices } from '../support/service-process';
import { times, useTestApi } from '../support/test-api';
import { waitFor } from '../support/wait-for';

jest.setTimeout(120_000);

const PROCESSES = '2';
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

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
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

  it('share the work, and say once where they are', async () => {
    const service = await start();
    const workers = await workersOf(service, 2);

    expect(workers).toHaveLength(2);
    expect(workers).not.toContain(service.pid);
    expect(service.lines.filter((line) => line.includes('http://localhost'))).toHaveLength(2);
    expect(await service.stop()).toBe(0);
    expect(workers.filter(isAlive)).toEqual([]);
    expect(service.stderr).toBe('');
  });

  it('count for rate limits together', async () => {
    const service = await start({ PUBLIC_RATE_LIMIT: '5' });
    await workersOf(service, 2);
    const answers = await Promise.all(times(20, () => service.get('/api/v1/public')));

    expect(answers.filter(({ status }) => status === 200)).toHaveLength(5);
  });

  it('replace the one that was killed, while the others go on', async () => {
    const service = await start();
    const [victim] = await workersOf(service, 2);
    process.kill(victim, 'SIGKILL');
    await waitFor(() => service.stdout.includes('another takes its place'));
    const answers = await Promise.all(times(20, () => service.get('/api/v1/products')));

    expect(answers.map(({ status }) => status)).toEqual(times(20, () => 200));
    expect((await workersOf(service, 3)).filter(isAlive)).toHaveLength(2);
  });

  it('end with the process that started them, however it ends', async () => {
    const service = await start();
    const workers = await workersOf(service, 2);
    await service.stop('SIGKILL');

    await waitFor(() => workers.every((pid) => !isAlive(pid)));
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
    expect(await service.stop()).toBe(0);
    expect(isAlive(server)).toBe(false);
  });
});
