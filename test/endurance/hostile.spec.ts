import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { cloneTemplate, query, waitFor } from '../../src/platform/testing';
import { BuiltService, type Vitals } from '../support/built-service';
import { HostileClient } from '../support/hostile-client';
import { type HostileRequest, hostileRequests } from '../support/hostile-requests';
import { Document } from '../support/openapi';
import { PLACES } from '../support/tested-places';
import { TcpProxy } from '../support/tcp-proxy';

/** In all; `npm run fuzz` and `.ci/run` send more. */
const REQUESTS = Number(process.env.HOSTILE_REQUESTS ?? 1_000);
/** Chosen anew by each run, and printed when it fails. */
const SEED = Number(process.env.FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31));
/** What fills caches and pools, before it is measured how the service is. */
const WARM_UP = 300;
/** Requests under way at once. */
const BATCH = 40;
/** Milliseconds in which the service may do nothing else (contract, section 8). */
const MAX_BLOCKED = 250;
/** What caches with a bound, and the compiler, may take beside: far less than a byte leaked by each request would. */
const MAX_GROWTH = 32 * 1_024 * 1_024;
/** How many times longer a simple request may take the processor: the machine has other things to do. */
const MAX_SLOWDOWN = 2;
const REQUEST_TIMEOUT = 3_000;
const SIMPLE_REQUESTS = 500;
const LARGE_POSTS = 40;
const PASSWORD = 'a password of a test';
const PATIENCE = 120_000 + REQUESTS * 60;

jest.setTimeout(PATIENCE);

describe(`The service, attacked with the seed ${SEED},`, () => {
  /** Redis on a machine that hangs: it takes connections and says nothing. */
  const redis = new TcpProxy();
  let database: Awaited<ReturnType<typeof cloneTemplate>>;
  let service: BuiltService;
  let client: HostileClient;
  let before: { vitals: Vitals; cpu: number };

  beforeAll(async () => {
    redis.fallSilent();
    database = await cloneTemplate();
    const settings = {
      ...{ DATABASE_URL: database.url, REDIS_URL: await redis.start('redis://127.0.0.1'), TRUST_PROXY: '1' },
      ...{ REQUEST_TIMEOUT: String(REQUEST_TIMEOUT), MIN_FREE_DISK: '0', MAX_UPLOAD_SIZE: '1048576' },
      // Otherwise a user's requests would be 429 before they reach what they attack.
      WRITE_QUOTA: '0',
    };
    service = await BuiltService.start(settings, { watched: true });
    const [user, admin] = [await tokenOf('mallory', 'USER'), await tokenOf('eve', 'ADMIN')];
    await plantLargePosts(user);
    const upload = await uploadOf(user);
    client = new HostileClient(service.port, {
      anonymous: { token: undefined, upload },
      user: { token: user, upload },
      admin: { token: admin, upload },
    });
    await attack(WARM_UP, SEED + 1);
    await quiet();
    before = { vitals: await service.vitals(), cpu: await costOfSimpleRequests() };
  });

  afterAll(async () => {
    await service?.stop();
    redis.stop();
    await database.drop();
  });

  it('never stands still, never answers 500, and cuts every request that doesn’t end', async () => {
    await attack(REQUESTS, SEED);
    await client.heldAreCut();
  });

  it('has afterwards the memory, connections and locks that it had before', async () => {
    await quiet();
    const { heap, sockets } = await service.vitals();
    expect(heap - before.vitals.heap).toBeLessThan(MAX_GROWTH);
    expect(sockets).toBeLessThanOrEqual(before.vitals.sockets + 1);
    const left = `SELECT state, query FROM pg_stat_activity WHERE datname = current_database()
                  AND pid <> pg_backend_pid() AND state <> 'idle'`;
    expect(await query(database.url, left)).toEqual([]);
    const locks = `SELECT * FROM pg_locks JOIN pg_database ON database = oid
                   WHERE datname = current_database() AND locktype = 'advisory'`;
    expect(await query(database.url, locks)).toEqual([]);
  });

  it('answers a simple request for as little as before', async () => {
    expect((await costOfSimpleRequests()) / before.cpu).toBeLessThan(MAX_SLOWDOWN);
  });

  /** Sends so many requests, some at a time. @throws Error naming those that did harm */
  async function attack(count: number, seed: number): Promise<void> {
    const document = new Document(JSON.parse(readFileSync(`${PLACES.documents}/openapi.v1.json`, 'utf8')));
    const requests = fc.sample(hostileRequests(document), { numRuns: count, seed });
    for (let sent = 0; sent < requests.length; sent += BATCH) {
      const batch = requests.slice(sent, sent + BATCH);
      const statuses = await Promise.all(batch.map((one) => client.send(one)));
      expect(batch.filter((_, index) => statuses[index] === 500)).toEqual([]);
      const blocked = await service.longestBlock();
      if (blocked > MAX_BLOCKED) await expectHarmlessAlone(batch);
    }
  }

  /** Sends each of a batch alone: many cheap requests at once take their time as well. */
  async function expectHarmlessAlone(batch: HostileRequest[]): Promise<void> {
    for (const one of batch) {
      await client.send(one);
      const blocked = await service.longestBlock();
      if (blocked > MAX_BLOCKED) throw new Error(`${blocked} ms without an answer to others: ${JSON.stringify(one)}`);
    }
  }

  /** Resolves when nothing is under way any more. */
  async function quiet(): Promise<void> {
    await client.heldAreCut();
    const active = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database()
                    AND pid <> pg_backend_pid() AND state <> 'idle'`;
    await waitFor(async () => (await query(database.url, active)).length === 0);
    await waitFor(async () => (await service.vitals()).sockets <= (before?.vitals.sockets ?? 20) + 1);
    await service.vitals();
  }

  /** Milliseconds of the main thread. */
  async function costOfSimpleRequests(): Promise<number> {
    const { cpu } = await service.vitals();
    for (let sent = 0; sent < SIMPLE_REQUESTS; sent++) await ask('/health/live', 200);
    return (await service.vitals()).cpu - cpu;
  }

  async function tokenOf(username: string, role: string): Promise<string> {
    await ask('/api/v1/users', 201, { username, email: `${username}@example.com`, password: PASSWORD });
    await query(database.url, 'UPDATE users SET roles = $1 WHERE username = $2', [`{${role}}`, username]);
    return (await ask('/api/v1/auth/tokens', 201, { username, password: PASSWORD })).data.access_token;
  }

  /** A page of them is more than an answer may have. */
  async function plantLargePosts(token: string): Promise<void> {
    const content = '<'.repeat(50_000);
    for (let post = 0; post < LARGE_POSTS; post++) await ask('/api/v1/posts', 201, { title: 'Large', content }, token);
  }

  /** The key of an upload that waits for its bytes. */
  async function uploadOf(token: string): Promise<string> {
    const headers = { Authorization: `Bearer ${token}`, 'Tus-Resumable': '1.0.0', 'Upload-Length': '10' };
    const response = await fetch(`http://127.0.0.1:${service.port}/api/v1/uploads`, { method: 'POST', headers });
    return response.headers.get('location')!.split('/').at(-1)!;
  }

  /** On a connection of its own, which is over afterwards. */
  async function ask(path: string, status: number, body?: object, token?: string) {
    const response = await fetch(`http://127.0.0.1:${service.port}${path}`, {
      method: body ? 'POST' : 'GET',
      headers: {
        Connection: 'close',
        'Content-Type': 'application/json',
        ...(token && { Authorization: `Bearer ${token}` }),
      },
      body: body && JSON.stringify(body),
    });
    expect(response.status).toBe(status);
    return response.json();
  }
});
