import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createDatabase, dropDatabase, query } from '../../src/platform/testing';
import { type ServiceProcess, tokenOf, useServices } from '../support/service-process';

/** Several processes on few cores. */
jest.setTimeout(240_000);

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
