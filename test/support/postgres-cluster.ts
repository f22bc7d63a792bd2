import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { query, waitFor } from '../../src/platform/testing';
import { freePort } from './free-port';

/** Where Debian has the programs of its versions. */
const DEBIAN = '/usr/lib/postgresql';
/** All that the tests run. */
const PROGRAMS = ['initdb', 'postgres', 'pg_basebackup', 'pg_dump', 'pg_restore', 'psql'];
const QUICK = { fsync: 'off', max_connections: '200', shared_buffers: '64MB', unix_socket_directories: '' };
const NEVER = { encoding: 'utf8', stdio: 'pipe' } as const;

/** The folder of PostgreSQL's programs; undefined if the machine has only a server. */
export const binaries = foundBinaries();

/** For tests that need the programs: their title says why they are skipped. */
export const describeWithPostgres = (name: string, tests: () => void) =>
  binaries
    ? describe(name, tests)
    : describe.skip(`${name} (skipped: no pg_basebackup and pg_dump, see apt-get install postgresql)`, tests);

function foundBinaries(): string | undefined {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((one, other) => Number(other) - Number(one)) : [];
  const folders = [...versions.map((version) => join(DEBIAN, version, 'bin')), ...(process.env.PATH ?? '').split(':')];
  return folders.find((folder) => PROGRAMS.every((program) => existsSync(join(folder, program))));
}

/** A server refuses to run as root: the account that Debian's package has made, if this is root. */
function account(): { uid?: number; gid?: number } {
  if (process.geteuid?.() !== 0) return {};
  const [uid, gid] = ['-u', '-g'].map((option) => Number(execFileSync('id', [option, 'postgres'], NEVER)));
  return { uid, gid };
}

/** A PostgreSQL with a folder of its own, which may have standbys. */
export class PostgresCluster {
  private process?: ChildProcess;

  private constructor(
    private readonly directory: string,
    private readonly port: number,
    private readonly settings: Record<string, string>,
  ) {}

  /** A new one, without rows. It runs. @param settings those of the server that differ from {@link QUICK} */
  static async start(settings: Record<string, string> = {}): Promise<PostgresCluster> {
    const cluster = await PostgresCluster.empty(settings);
    cluster.run('initdb', [
      '-D',
      cluster.data,
      '-U',
      'postgres',
      '-A',
      'trust',
      '-E',
      'UTF8',
      '--locale=C.UTF-8',
      '-N',
    ]);
    await cluster.begin();
    return cluster;
  }

  private static async empty(settings: Record<string, string> = {}): Promise<PostgresCluster> {
    const directory = mkdtempSync(join(tmpdir(), 'resource-api-cluster-'));
    chmodSync(directory, 0o755);
    const { uid, gid } = account();
    if (uid !== undefined) chownSync(directory, uid, gid!);
    return new PostgresCluster(directory, await freePort(), settings);
  }

  /** A standby that follows this one by streaming. It runs. */
  async standby(): Promise<PostgresCluster> {
    const cluster = await PostgresCluster.empty();
    cluster.run('pg_basebackup', ['-d', this.url('postgres'), '-D', cluster.data, '-R', '-c', 'fast', '--no-sync']);
    await cluster.begin();
    return cluster;
  }

  url(database: string): string {
    return `postgres://postgres@127.0.0.1:${this.port}/${database}`;
  }

  async createDatabase(name: string): Promise<string> {
    await query(this.url('postgres'), `CREATE DATABASE ${name}`);
    return this.url(name);
  }

  /** Starts it again after {@link kill}. */
  async begin(): Promise<void> {
    const settings = { ...QUICK, ...this.settings, port: String(this.port), listen_addresses: '127.0.0.1' };
    const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    this.process = spawn(join(binaries!, 'postgres'), ['-D', this.data, ...options], {
      ...account(),
      cwd: this.directory,
      stdio: 'ignore',
    });
    await waitFor(() => query(this.url('postgres'), 'SELECT 1').then(Boolean, () => false));
  }

  /** As by kill -9 of all its processes: no connection gets a goodbye. */
  async kill(): Promise<void> {
    if (!this.process || this.process.exitCode !== null || this.process.signalCode !== null) return;
    this.process.kill('SIGQUIT');
    await once(this.process, 'exit');
  }

  async remove(): Promise<void> {
    await this.kill();
    rmSync(this.directory, { recursive: true, force: true });
  }

  private get data(): string {
    return join(this.directory, 'data');
  }

  private run(program: string, options: string[]): void {
    const { status, stderr } = spawnSync(join(binaries!, program), options, {
      ...account(),
      cwd: this.directory,
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`${program}: ${stderr}`);
  }
}
