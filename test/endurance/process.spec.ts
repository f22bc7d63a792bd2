import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { times, waitFor } from '../../src/platform/testing';
import {
  hasEnded,
  postmasterOf,
  type ServiceProcess,
  demoSignIn,
  tokenOf,
  useServices,
} from '../support/service-process';

async function usernamesOf(service: ServiceProcess, reader: typeof demoSignIn): Promise<string[]> {
  const Authorization = await tokenOf(service, reader);
  const users = await service.get('/api/v1/users?fields=username&size=100', { Authorization });
  return (await users.json()).data.map(({ username }: { username: string }) => username);
}

async function keysOf(service: ServiceProcess): Promise<string> {
  return (await service.get('/.well-known/jwks.json')).text();
}

function portOfPostgres(dataDirectory: string): string {
  return readFileSync(join(dataDirectory, 'postgres/postmaster.pid'), 'utf8').split('\n')[3];
}

/** A readable line without its `[08:15:00.123] `. */
function withoutTime(line: string): string {
  return line.replace(/^\[\d\d:\d\d:\d\d\.\d{3}\] /, '');
}

/** Every second of a span of time, as a clock in Tokyo shows it. */
function secondsInTokyo(from: number, to: number): string[] {
  const clock = new Intl.DateTimeFormat('en-GB', { timeZone: 'Asia/Tokyo', timeStyle: 'medium' });
  return times(Math.ceil((to - from) / 1000) + 1, (second) => clock.format(from + second * 1000));
}

/** Several processes on few cores. */
jest.setTimeout(240_000);

/** Port 1 is for a service that no machine has had for decades. */
const NOBODY = '127.0.0.1:1';

const WRONG = { PORT: '70000', JWT_SECRET: 'secret', DATABASE_URL: 'mysql://secret' };

// They fail while the other tests run: one of them takes its time.
const failing = useServices({ keep: true });
let failures: Record<'settings' | 'database' | 'folder', ServiceProcess>;

beforeAll(() => {
  const file = join(failing.newDirectory(), 'file');
  writeFileSync(file, '');
  failures = {
    settings: failing.spawn({ ...WRONG, NODE_ENV: 'production' }),
    database: failing.spawn({ DATABASE_URL: `postgres://me:secret@${NOBODY}/x`, REDIS_URL: `redis://${NOBODY}` }),
    folder: failing.spawn({ DATA_DIR: file }),
  };
});

describe('A service on the embedded database', () => {
  const services = useServices();
  const anna = { username: 'anna', email: 'anna@example.com', password: 'a long password' };
  let DATA_DIR: string;
  let keys: string;
  let usernames: string[];

  beforeAll(() => {
    DATA_DIR = services.newDirectory();
  });

  it('starts in an empty folder, says where everything is, and leaves no process behind', async () => {
    const before = Date.now();
    const service = await services.start({ DATA_DIR, TZ: 'Asia/Tokyo' });
    const server = postmasterOf(DATA_DIR)!;
    keys = await keysOf(service);
    expect((await service.send('POST', '/users', anna)).status).toBe(201);
    usernames = await usernamesOf(service, demoSignIn);
    expect(usernames).toEqual(expect.arrayContaining(['ada', 'grace', 'anna']));
    // Any other address of the machine; this one nobody else can have sent something to.
    await expect(fetch(`http://127.0.0.2:${service.port}/health/live`)).rejects.toThrow();
    expect((await fetch(`http://localhost:${service.port}/docs`)).status).toBe(200);
    // Its line is written when the answer has left.
    await waitFor(() => service.stdout.includes('GET /docs'));

    expect(await service.stop()).toBe(0);

    expect(service.stderr).toBe('');
    const lines = service.lines.map(withoutTime);
    // On a slow machine the start tells what it is at: each step once, in this order.
    const steps = [`Creating a database in ${DATA_DIR}/postgres`, 'Migrating the database', 'Adding demo data'];
    const told = lines.filter((line) => line.startsWith('INFO: [Start] '));
    expect(steps.map((step) => `INFO: [Start] ${step}`).filter((line) => told.includes(line))).toEqual(told);
    expect(lines.slice(told.length)).toEqual([
      `INFO: API      http://localhost:${service.port}/api/v1`,
      `INFO: Docs     http://localhost:${service.port}/docs`,
      `INFO: Data     ${DATA_DIR}`,
      'INFO: Sign in  ada (a user) or grace (an administrator), password demo-password',
      'INFO: Open to  this machine alone (127.0.0.1), as the demo password is no secret; HOST opens it to others',
      expect.stringMatching(
        /^INFO: GET \/\.well-known\/jwks\.json 200 in [\d.]+ ms \{"request_id":".+","user_id":null\}$/,
      ),
      expect.stringMatching(/^INFO: \[Security\] security event \{"request_id":".+","event":"user_created",/),
      expect.stringMatching(/^INFO: POST \/api\/v1\/users 201 in /),
      expect.stringMatching(/^INFO: \[Security\] security event \{"request_id":".+","event":"authn_login_success",/),
      expect.stringMatching(/^INFO: POST \/api\/v1\/auth\/tokens 201 in /),
      expect.stringMatching(/^INFO: GET \/api\/v1\/users 200 in /),
      expect.stringMatching(/^INFO: GET \/docs 200 in /),
      'INFO: Stopping: no new connections, what was asked is answered',
      'INFO: Stopped',
    ]);
    const seconds = secondsInTokyo(before, Date.now());
    for (const line of service.lines) expect(seconds).toContain(line.slice(1, 9));
    await hasEnded(server);
  });

  it('starts again with its data, its signing key and no more demo data, and lets nobody disturb it', async () => {
    const service = await services.start({ DATA_DIR });
    expect(await usernamesOf(service, anna)).toEqual(usernames);
    expect(await keysOf(service)).toBe(keys);

    const wrongPassword = `postgres://resource_api:secret@127.0.0.1:${portOfPostgres(DATA_DIR)}/resource_api`;
    const second = services.spawn({ DATA_DIR, PORT: String(service.port) });
    const third = services.spawn({ DATABASE_URL: wrongPassword });
    expect(await Promise.all([second.ended, third.ended])).toEqual([1, 1]);
    expect(second.stderr).toBe(`Port ${service.port} is taken by another process; set PORT to a free one.\n`);
    expect(third.stderr).toBe(
      'The database refuses the service: password authentication failed for user "resource_api"\n',
    );
    expect(second.stdout + third.stdout).toBe('');

    expect((await service.get('/health/ready')).status).toBe(200);
  });

  it('is killed, and then started twice at once: both take over its database, which lives until its owner stops', async () => {
    const killed = await services.start({ DATA_DIR });
    await killed.stop('SIGKILL');
    const orphan = postmasterOf(DATA_DIR)!;

    const pair = await Promise.all([services.start({ DATA_DIR }), services.start({ DATA_DIR })]);
    expect(postmasterOf(DATA_DIR)).toBe(orphan);
    const ownerPid = Number(readFileSync(join(DATA_DIR, 'postgres.owner'), 'utf8'));
    const owner = pair.find(({ pid }) => pid === ownerPid)!;
    const guest = pair.find(({ pid }) => pid !== ownerPid)!;
    expect((await guest.get('/health/ready')).status).toBe(200);

    expect(await guest.stop()).toBe(0);
    expect((await owner.get('/health/ready')).status).toBe(200);
    expect(await owner.stop()).toBe(0);
    await hasEnded(orphan);
  });

  it('stops the database when its start fails, or is cut short, half-way', async () => {
    const homeless = services.spawn({ DATA_DIR, HOST: '192.0.2.1' });
    expect(await homeless.ended).toBe(1);
    expect(homeless.stderr).toBe('This machine has no address 192.0.2.1; set HOST to one that it has.\n');
    expect(postmasterOf(DATA_DIR)).toBeUndefined();

    const interrupted = services.spawn({ DATA_DIR });
    await waitFor(() => postmasterOf(DATA_DIR) !== undefined);
    expect(await interrupted.stop('SIGINT')).toBe(0);
    expect(interrupted.stderr).toBe('');
    expect(postmasterOf(DATA_DIR)).toBeUndefined();

    writeFileSync(join(DATA_DIR, 'jwt-key.pem'), 'damaged');
    const keyless = services.spawn({ DATA_DIR });
    expect(await keyless.ended).toBe(1);
    expect(keyless.stderr).toMatch(/jwt-key\.pem holds no signing key; remove it to have one made.*\n$/);
    expect(postmasterOf(DATA_DIR)).toBeUndefined();
  });
});

describe('A start that fails', () => {
  it('tells of all wrong settings, of no value, and not where in the code it noticed', async () => {
    expect(await failures.settings.ended).toBe(1);
    expect(failures.settings.stdout).toBe('');
    expect(failures.settings.stderr.trimEnd().split('\n')).toEqual([
      'These settings are wrong:',
      '  - PORT must be a whole number from 0 to 65535',
      '  - DATABASE_URL must be a URL such as postgres://user:password@host:5432/database',
      '  - JWT_SECRET must have at least 32 bytes',
      '  - TLS_CERT and TLS_KEY, or TRUST_PROXY, must be set in production',
    ]);
  });

  it('tells of a database that nobody answers for, after a few tries with a line for each', async () => {
    expect(await failures.database.ended).toBe(1);
    expect(failures.database.stderr).toBe(`The database can't be reached: connect ECONNREFUSED ${NOBODY}\n`);
    expect(failures.database.lines.filter((line) => line.includes('Database')).map(withoutTime)).toEqual(
      [1, 2, 3, 4].map(
        (attempt) =>
          `WARN: [Database] The database can't be reached (connect ECONNREFUSED ${NOBODY}), attempt ${attempt} of 5`,
      ),
    );
  });

  it('tells of a folder that it may not write', async () => {
    expect(await failures.folder.ended).toBe(1);
    expect(failures.folder.stdout).toBe('');
    expect(failures.folder.stderr).toMatch(
      /^E[A-Z]+: .*file.*\. Set DATA_DIR to a folder that this user may write\.\n$/,
    );
  });
});
