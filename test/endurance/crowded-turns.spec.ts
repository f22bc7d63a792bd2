import { cloneTemplate, RawConnection, times } from '../../src/platform/testing';
import { Load } from '../support/load';
import { LoopProbe } from '../support/loop-probe';
import { postOnTheWire } from '../support/raw-requests';
import { type ServiceProcess, useServices } from '../support/service-process';

jest.setTimeout(180_000);

/** Milliseconds in which the service may do nothing else (contract, section 8). */
const MAX_BLOCKED = 250;
const MANY = 600;
/** Connections of each kind, and what others may wait for one of theirs, in milliseconds. */
const CROWD = 150;
const NEWCOMERS = 5;
const MAX_WAIT = 1_000;
/** Less than the values of a body that waits for a turn of its own. */
const NAMES = 49;

const post = (body: object) => {
  const text = JSON.stringify(body);
  return postOnTheWire('/api/v1/users', { 'Content-Length': text.length }, text);
};
const unknown = Object.fromEntries(times(NAMES, (index) => [`name_that_is_not_known_${index}`, index]));

describe('Six hundred requests without a token, at once,', () => {
  const services = useServices({ keep: true });
  const probe = new LoopProbe();
  let database: Awaited<ReturnType<typeof cloneTemplate>>;
  let service: ServiceProcess;

  beforeAll(async () => {
    database = await cloneTemplate();
    service = await services.start({ NODE_ENV: 'test', DATABASE_URL: database.url, ...probe.environment });
    // What is compiled at its first use takes longer then.
    for (let round = 0; round < 3; round++) await crowd(post({ username: 1, email: 2 }));
  });
  afterAll(async () => {
    await services.end();
    await database.drop();
  });

  /** Sends a request on many connections. @param last how many of its characters are sent after all others */
  async function crowd(request: string, last = 0): Promise<Set<number>> {
    const connections = await Promise.all(times(MANY, () => RawConnection.open(service.port)));
    const begun = request.length - last;
    for (const connection of connections) connection.write(request.slice(0, begun));
    if (last > 0) {
      // Answered after the others have arrived.
      expect((await service.get('/api/v1/public')).status).toBe(200);
      for (const connection of connections) connection.write(request.slice(begun));
    }
    const answers = await Promise.all(connections.map((connection) => connection.answer()));
    for (const connection of connections) connection.destroy();
    return new Set(answers.map(({ status }) => status));
  }

  it.each([
    ['with a body that breaks every rule', 400, post({ username: 1, email: 2, password: 3 })],
    ['with a body of unknown names', 400, post(unknown)],
    ['for nothing that there is', 404, 'GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['with a method that no route has', 405, 'DELETE /api/v1/public HTTP/1.1\r\nHost: x\r\n\r\n'],
  ])('block nobody: %s', async (_what, status, request) => {
    const blocked = await probe.longestDuring(service, async () => {
      expect(await crowd(request)).toEqual(new Set([status]));
    });

    expect(blocked).toBeLessThan(MAX_BLOCKED);
  });

  it('block nobody when all their bodies end at once', async () => {
    const blocked = await probe.longestDuring(service, async () => {
      expect(await crowd(post(unknown), 1)).toEqual(new Set([400]));
    });

    expect(blocked).toBeLessThan(MAX_BLOCKED);
  });
});

describe('A crowd that keeps some connections busy, and opens others again and again,', () => {
  const services = useServices();
  let database: Awaited<ReturnType<typeof cloneTemplate>>;

  beforeAll(async () => {
    database = await cloneTemplate();
  });
  afterAll(() => database.drop());

  const invalid = JSON.stringify({ username: 1, email: 2, password: 3 });

  it.each([
    ['by what is invalid', { method: 'POST', path: '/api/v1/users', body: invalid }],
    ['by what there is not', { method: 'POST', path: '/health/nothing', body: invalid }],
    ['by probes', { method: 'GET', path: '/health/live', body: '' }],
  ])('lets new connections of others in: %s', async (_what, crowd) => {
    const service = await services.start({ NODE_ENV: 'test', DATABASE_URL: database.url });
    const { length } = crowd.body;
    const headers: Record<string, string> =
      length > 0 ? { 'Content-Type': 'application/json', 'Content-Length': String(length) } : {};
    const request = { port: service.port, headers, connections: CROWD, ...crowd };
    const crowds = [true, false].map((keepAlive) => Load.start({ ...request, keepAlive }));
    await Promise.all(crowds.map(({ warm }) => warm));

    const start = performance.now();
    for (let turn = 0; turn < NEWCOMERS; turn++) expect((await service.get('/health/live')).status).toBe(200);
    const each = (performance.now() - start) / NEWCOMERS;
    await services.end();
    await Promise.all(crowds.map(({ report }) => report));

    expect(each).toBeLessThan(MAX_WAIT);
  });
});
