import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createDatabase, dropDatabase, query } from '../support/databases';
import { hasEnded, postmasterOf, type ServiceProcess, useServices } from '../support/service-process';
import { times } from '../support/test-api';
import { waitFor } from '../support/wait-for';

const demoSignIn = { username: 'ada', password: 'demo-password' };

async function tokenOf(service: ServiceProcess, { username, password }: typeof demoSignIn): Promise<string> {
  const response = await service.send('POST', '/auth/tokens', { username, password });
  expect(response.status).toBe(201);
  return `Bearer ${(await response.json()).data.access_token}`;
}

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
    expect(service.lines.map(withoutTime)).toEqual([
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

describe('A service on the database of DATABASE_URL', () => {
  const services = useServices();
  const server = process.env.TEST_SERVER_URL!;
  const name = `${process.env.TEST_DATABASE_PREFIX}_process_${process.pid}`;
  let DATABASE_URL: string;
  let settings: Record<string, string>;

  beforeAll(async () => {
    DATABASE_URL = await createDatabase(server, name);
    settings = { DATABASE_URL, NODE_ENV: 'test', DATA_DIR: services.newDirectory() };
  });

  afterAll(() => dropDatabase(server, name));

  it('is started twice at once on an empty database: migrated once, one administrator', async () => {
    const administrator = { ADMIN_USERNAME: 'root', ADMIN_EMAIL: 'root@example.com', ADMIN_PASSWORD: 'long enough' };

    const pair = await Promise.all([
      services.start({ ...settings, ...administrator }),
      services.start({ ...settings, ...administrator, DATA_DIR: services.newDirectory() }),
    ]);

    for (const service of pair) await tokenOf(service, { username: 'root', password: 'long enough' });
    expect(await query(DATABASE_URL, 'SELECT username, roles FROM users')).toEqual([
      { username: 'root', roles: ['ADMIN'] },
    ]);
    expect(await query(DATABASE_URL, 'SELECT name FROM migrations ORDER BY name')).toEqual(
      await query(DATABASE_URL, 'SELECT DISTINCT name FROM migrations ORDER BY name'),
    );
    for (const service of pair) expect(await service.stop()).toBe(0);
  });

  it('makes no second administrator, and logs one JSON object a line outside development', async () => {
    const other = { ADMIN_USERNAME: 'other', ADMIN_EMAIL: 'other@example.com', ADMIN_PASSWORD: 'long enough' };
    const service = await services.start({ ...settings, ...other, LOG_LEVEL: 'debug' });
    await service.get('/health/live');
    await service.stop();

    expect(await query(DATABASE_URL, 'SELECT username FROM users')).toEqual([{ username: 'root' }]);
    const lines = service.lines.map((line) => JSON.parse(line));
    for (const line of lines) {
      expect(line).toMatchObject({ pid: service.pid, time: expect.stringMatching(/^\d{4}-.*Z$/) });
    }
    expect(lines.filter(({ level }) => level !== 'debug').map(({ level, msg }) => [level, msg])).toEqual([
      ['warn', expect.stringContaining('are ignored: there is another administrator')],
      ['info', `API      http://localhost:${service.port}/api/v1`],
      ['info', `Docs     http://localhost:${service.port}/docs`],
      ['info', 'Data     the database of DATABASE_URL'],
      ['info', 'request'],
      ['info', 'Stopping: no new connections, what was asked is answered'],
      ['info', 'Stopped'],
    ]);
    // What Nest tells of its own start stays out of everyone's way.
    expect(lines).toContainEqual(
      expect.objectContaining({
        level: 'debug',
        msg: 'Mapped {/api/users, GET} (version: 1,2) route',
        context: 'RouterExplorer',
      }),
    );
  });

  it('tells its log, and no secret, of an error that nobody has caught, and ends', async () => {
    const accident = join(services.newDirectory(), 'accident.cjs');
    writeFileSync(accident, "process.on('SIGUSR2', () => Promise.reject(new Error('No mail for ada@example.com')));");
    const service = await services.start({ ...settings, NODE_OPTIONS: `--require ${accident}` });

    expect(await service.stop('SIGUSR2')).toBe(1);

    expect(service.stderr).toBe('');
    expect(service.lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: 'info', msg: `API      http://localhost:${service.port}/api/v1` },
      { level: 'info', msg: `Docs     http://localhost:${service.port}/docs` },
      { level: 'info', msg: 'Data     the database of DATABASE_URL' },
      { level: 'fatal', msg: 'The service ends', err: { message: 'No mail for [e-mail]' } },
      { level: 'info', msg: 'Stopped' },
    ]);
  });

  it('refuses a first administrator whom nobody may be', async () => {
    const wrong = { ADMIN_USERNAME: 'a@b', ADMIN_EMAIL: 'secret', ADMIN_PASSWORD: 'short' };
    const service = services.spawn({ ...settings, ...wrong });

    expect(await service.ended).toBe(1);
    expect(service.stderr.trimEnd().split('\n')).toEqual([
      'These settings are wrong:',
      expect.stringMatching(/^ {2}- ADMIN_USERNAME must /),
      expect.stringMatching(/^ {2}- ADMIN_EMAIL must /),
      expect.stringMatching(/^ {2}- ADMIN_PASSWORD must /),
    ]);
    expect(service.stderr).not.toMatch(/a@b|secret|short/);
  });
});

describe('A service whose database holds demo accounts of an earlier start', () => {
  const services = useServices();
  const name = `${process.env.TEST_DATABASE_PREFIX}_demo_${process.pid}`;
  let settings: Record<string, string>;

  beforeAll(async () => {
    const DATABASE_URL = await createDatabase(process.env.TEST_SERVER_URL!, name);
    settings = { DATABASE_URL, DATA_DIR: services.newDirectory() };
    await (await services.start({ ...settings, DEMO_DATA: 'true' })).stop();
    await services.end();
  });

  afterAll(() => dropDatabase(process.env.TEST_SERVER_URL!, name));

  const elsewhere = ({ port }: ServiceProcess) => fetch(`http://127.0.0.2:${port}/health/live`);
  const says = ({ stdout }: ServiceProcess) => stdout.includes('this machine alone');

  it('stays on this machine and says so, unless HOST opens it', async () => {
    const unset = await services.start(settings);
    const off = await services.start({ ...settings, DEMO_DATA: 'false' });
    const open = await services.start({ ...settings, HOST: '0.0.0.0' });

    expect([unset, off, open].map(says)).toEqual([true, true, false]);
    await expect(elsewhere(unset)).rejects.toThrow();
    await expect(elsewhere(off)).rejects.toThrow();
    expect((await elsewhere(open)).status).toBe(200);
  });

  it('is open to others once all of them have other passwords', async () => {
    await query(settings.DATABASE_URL, `UPDATE users SET password_hash = NULL WHERE username <> 'mallory'`);
    const suspended = await services.start(settings);
    await query(settings.DATABASE_URL, 'UPDATE users SET password_hash = NULL');
    const none = await services.start(settings);

    expect([suspended, none].map(says)).toEqual([true, false]);
    expect((await elsewhere(none)).status).toBe(200);
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
