import { execFileSync } from 'node:child_process';
import { appendFileSync, chmodSync, chownSync, copyFileSync, cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { childOptions, commandLine, type Launcher } from '../../src/platform/database/embedded-postgres/launcher';
import { query, waitFor } from '../../src/platform/testing';
import { Program } from './programs';

const HBA = resolve('ops/cluster/pg_hba.conf');
const STANDBY = 'standby';
export const DATABASE = 'resource_api';

export interface PostgresOptions {
  launcher: Launcher;
  directory: string;
  password: string;
  /** Ports of the primary and of the standby. */
  ports: [number, number];
}

/** A PostgreSQL with a synchronous streaming standby. */
export class Postgres {
  readonly primary: Program;
  readonly standby: Program;

  constructor(private readonly options: PostgresOptions) {
    this.primary = this.server(0, { synchronous_standby_names: STANDBY });
    this.standby = this.server(1, {});
  }

  /** Makes both clusters, the second as a copy of the first, and starts them. */
  async start(): Promise<void> {
    const { launcher, directory, password, ports } = this.options;
    this.initialize();
    const alone = this.server(0, {}).start();
    await this.accepts(0);
    const run = (text: string) => query(this.url(0, 'postgres'), text);
    await run(`CREATE ROLE replicator REPLICATION LOGIN PASSWORD '${password}'`);
    await run('CREATE ROLE haproxy_check LOGIN');
    await run(`CREATE DATABASE ${DATABASE}`);
    await alone.stop('SIGINT');
    const [first, second] = this.folders;
    cpSync(first, second, { recursive: true });
    // Node 24 doesn't copy the mode of a folder, and PostgreSQL refuses one that others may read.
    chmodSync(second, 0o700);
    writeFileSync(join(second, 'standby.signal'), '');
    const source = `host=127.0.0.1 port=${ports[0]} user=replicator password=${password} application_name=${STANDBY}`;
    appendFileSync(join(second, 'postgresql.auto.conf'), `primary_conninfo = '${source}'\n`);
    if (launcher.account) execFileSync('chown', ['-R', `${launcher.account.uid}:${launcher.account.gid}`, directory]);
    this.primary.start();
    this.standby.start();
    await this.accepts(0);
    await waitFor(async () => {
      const rows = await query(this.url(0, 'postgres'), "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'");
      return rows.length === 1;
    }, 30_000);
  }

  /** What an operator does when the primary is lost: the standby becomes the primary. */
  async promote(): Promise<void> {
    await query(this.url(1, 'postgres'), 'SELECT pg_promote()');
  }

  url(server: 0 | 1, database = DATABASE): string {
    const { password, ports } = this.options;
    return `postgres://postgres:${password}@127.0.0.1:${ports[server]}/${database}`;
  }

  private get folders(): [string, string] {
    const { directory } = this.options;
    return [join(directory, 'primary'), join(directory, 'standby')];
  }

  private initialize(): void {
    const { launcher, directory, password } = this.options;
    mkdirSync(directory, { recursive: true });
    const { account } = launcher;
    const secret = join(directory, 'password');
    writeFileSync(secret, password, { mode: 0o644 });
    if (account) chownSync(directory, account.uid, account.gid);
    chmodSync(directory, 0o755);
    const [first] = this.folders;
    const args = [
      '-D',
      first,
      '-U',
      'postgres',
      '-A',
      'scram-sha-256',
      '--pwfile',
      secret,
      '-E',
      'UTF8',
      '--no-locale',
    ];
    const [file, words] = commandLine(launcher, 'initdb', args);
    execFileSync(file, words, { ...childOptions(launcher, first), stdio: 'ignore' });
    copyFileSync(HBA, join(first, 'pg_hba.conf'));
  }

  private server(index: 0 | 1, settings: Record<string, string>): Program {
    const { launcher, directory, ports } = this.options;
    const folder = this.folders[index];
    const all = {
      port: String(ports[index]),
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      shared_buffers: '64MB',
      // The disk of the machine would decide the times. A killed server loses nothing that the system has taken.
      fsync: 'off',
      ...settings,
    };
    const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const [file, words] = commandLine(launcher, 'postgres', ['-D', folder, ...flags]);
    const options = childOptions(launcher, folder);
    return new Program(index === 0 ? 'primary' : 'standby', directory, () => [file, ...words], options);
  }

  private accepts(server: 0 | 1): Promise<void> {
    return waitFor(
      () =>
        query(this.url(server, 'postgres'), 'SELECT 1').then(
          () => true,
          () => false,
        ),
      30_000,
    );
  }
}
