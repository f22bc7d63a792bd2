import { once } from 'node:events';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { connect, createServer } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/platform/database/embedded-postgres';
import { query, withDatabase } from '../../src/platform/testing';
import { hasEnded, postmasterOf } from '../support/service-process';

/** Larger than any process id there is. */
const NOBODY = 2 ** 30;
/** In milliseconds, of a cluster that exists. */
const LONGER_THAN_A_START = 300;

describe('The embedded PostgreSQL', () => {
  /** A name that must be quoted wherever it is used. */
  const parent = join(mkdtempSync(join(tmpdir(), 'resource-api-embedded-')), "Ada's data, ünïcode");
  const directory = join(parent, 'postgres');
  const started: EmbeddedPostgres[] = [];

  async function start(options?: Parameters<typeof startEmbeddedPostgres>[1]): Promise<EmbeddedPostgres> {
    // Syncing takes time, and no test cuts the power.
    const settings = { fsync: 'off', ...options?.settings };
    const server = await startEmbeddedPostgres(directory, { ...options, settings });
    started.push(server);
    return server;
  }

  const running = () => postmasterOf(parent);
  const portOf = ({ url }: EmbeddedPostgres) => Number(new URL(url).port);
  const contents = (file: string) => readFileSync(`${directory}${file}`, 'utf8');

  afterEach(async () => {
    for (const server of started.splice(0)) await server.stop();
  });

  afterAll(() => rmSync(dirname(parent), { recursive: true, force: true }));

  it('is made where there is nothing, and gone when it is stopped, be it twice', async () => {
    mkdirSync(`${directory}.initdb-of-a-killed-process`, { recursive: true });

    const server = await start();
    const [facts] = await query(
      server.url,
      `SELECT current_database() AS database, current_setting('server_encoding') AS encoding,
        lower('ÄÖİΣ') AS folded, 'B' < 'a' AS bytewise, version() AS version`,
    );
    expect(facts).toMatchObject({ database: 'resource_api', encoding: 'UTF8', folded: 'äöiσ', bytewise: true });
    expect(facts.version).toMatch(/^PostgreSQL 1[5-9]/);
    await query(server.url, 'CREATE TABLE kept (text text)');
    await query(server.url, "INSERT INTO kept VALUES ('from the first start')");
    const pid = running()!;

    await Promise.all([server.stop(), server.stop()]);

    await hasEnded(pid);
    expect(readdirSync(parent).sort()).toEqual(['postgres', 'postgres.log', 'postgres.password']);
  });

  it('keeps its data and its port, and has the databases that it is asked for', async () => {
    const first = await start();
    await first.stop();

    const again = await start({ database: 'Another "one"', settings: { max_connections: '17' } });

    expect(portOf(again)).toBe(portOf(first));
    expect(await query(again.url, "SELECT current_setting('max_connections') AS max")).toEqual([{ max: '17' }]);
    expect(await query(withDatabase(again.url, 'resource_api'), 'TABLE kept')).toEqual([
      { text: 'from the first start' },
    ]);
  });

  it('takes another port when its own is taken', async () => {
    const first = await start();
    await first.stop();
    const other = createServer().listen(portOf(first), '127.0.0.1');
    await once(other, 'listening');

    const again = await start();

    expect(portOf(again)).not.toBe(portOf(first));
    expect(await query(again.url, 'TABLE kept')).toHaveLength(1);
    other.close();
  });

  it('lets nobody in without the password, and nobody from outside at all', async () => {
    const server = await start();
    const wrong = new URL(server.url);
    wrong.password = 'secret';
    await expect(query(wrong.href, 'SELECT 1')).rejects.toThrow('password authentication failed');
    expect(contents('.password').trim()).toBe(new URL(server.url).password);

    const addresses = Object.values(networkInterfaces()).flatMap((all) => all!.filter(({ internal }) => !internal));
    for (const { address } of addresses.filter(({ family }) => family === 'IPv4')) {
      const socket = connect(portOf(server), address);
      const [error] = await once(socket, 'error');
      expect(error).toMatchObject({ code: 'ECONNREFUSED' });
    }
  });

  it('is one server for all who start it at once, and ends with the one that has started it', async () => {
    const all = await Promise.all([start(), start(), start()]);
    expect(new Set(all.map(({ url }) => url)).size).toBe(1);
    expect(Number(contents('.owner'))).toBe(process.pid);
    const pid = running()!;

    for (const server of all) await server.stop();

    await hasEnded(pid);
  });

  it('is adopted from a process that was killed, and left alone as long as its owner lives', async () => {
    await start();
    const pid = running()!;

    writeFileSync(`${directory}.owner`, '1');
    const guest = await start();
    await guest.stop();
    expect(running()).toBe(pid);

    writeFileSync(`${directory}.owner`, String(NOBODY));
    const heir = await start();
    expect(running()).toBe(pid);
    expect(Number(contents('.owner'))).toBe(process.pid);
    await heir.stop();
    await hasEnded(pid);
  });

  it('gets over a crash of its own, whoever has its process id now', async () => {
    for (const successor of [NOBODY, process.pid]) {
      const server = await start();
      await query(server.url, `INSERT INTO kept VALUES ('before the crash')`);
      const pid = running()!;
      process.kill(pid, 'SIGKILL');
      await hasEnded(pid);
      const lines = contents('/postmaster.pid').split('\n');
      writeFileSync(join(directory, 'postmaster.pid'), [successor, ...lines.slice(1)].join('\n'));

      const again = await start();

      expect((await query(again.url, 'TABLE kept')).length).toBeGreaterThan(1);
      await again.stop();
    }
  });

  it('does not wait for the lock of a process that was killed', async () => {
    writeFileSync(`${directory}.lock`, String(NOBODY));

    await expect(start()).resolves.toHaveProperty('url');
  });

  it('waits for the lock of a process that lives', async () => {
    writeFileSync(`${directory}.lock`, '1');
    const starting = start();
    expect(await Promise.race([starting, after(LONGER_THAN_A_START, 'waits')])).toBe('waits');

    rmSync(`${directory}.lock`);

    await expect(starting).resolves.toHaveProperty('url');
  });

  it('says what is wrong when it can not start, with the end of its log', async () => {
    const settings = contents('/postgresql.conf');
    appendFileSync(join(directory, 'postgresql.conf'), '\nno_such_setting = on\n');
    await expect(start()).rejects.toThrow(/postgres\.log:\n[^]*unrecognized configuration parameter "no_such_setting"/);
    writeFileSync(join(directory, 'postgresql.conf'), settings);
  });

  it('says what is wrong when its password is gone, or not the one of the server that runs', async () => {
    renameSync(`${directory}.password`, `${directory}.elsewhere`);
    await expect(start()).rejects.toThrow(
      /The password of the PostgreSQL cluster in .* can't be read .*restore the file/,
    );
    renameSync(`${directory}.elsewhere`, `${directory}.password`);

    await start();
    const password = contents('.password');
    writeFileSync(`${directory}.password`, 'another');
    await expect(start()).rejects.toThrow(`PostgreSQL refuses the password in ${directory}.password.`);
    writeFileSync(`${directory}.password`, password);
  });
});
