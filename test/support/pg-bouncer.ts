import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { query, waitFor } from '../../src/platform/testing';
import { freePort } from './free-port';

/** The account that nobody has: PgBouncer refuses to run as root. */
const NOBODY = process.geteuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};

export const hasPgBouncer = (): boolean => spawnSync('pgbouncer', ['--version']).status === 0;

export interface PgBouncerOptions {
  /** The connections to each database. Default: 20 */
  sessions?: number;
}

/** PgBouncer in transaction mode before a server, for all of its databases. */
export class PgBouncer {
  private constructor(
    private readonly process: ChildProcess,
    private readonly directory: string,
    readonly port: number,
  ) {}

  /** @param server the URL of PostgreSQL, with the user of all connections */
  static async start(server: string, { sessions = 20 }: PgBouncerOptions = {}): Promise<PgBouncer> {
    const { hostname, port, username, password } = new URL(server);
    const own = await freePort();
    const directory = mkdtempSync(join(tmpdir(), 'resource-api-pgbouncer-'));
    chmodSync(directory, 0o755);
    const file = join(directory, 'pgbouncer.ini');
    writeFileSync(
      file,
      `[databases]
* = host=${hostname} port=${port || 5432} user=${username}${password && ` password=${decodeURIComponent(password)}`}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${own}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${sessions}
max_client_conn = 5000
server_idle_timeout = 10
`,
    );
    const child = spawn('pgbouncer', ['-q', file], { stdio: 'ignore', ...NOBODY });
    const pooler = new PgBouncer(child, directory, own);
    await waitFor(async () => child.exitCode !== null || (await pooler.answers()), 10_000);
    if (child.exitCode !== null) throw new Error(`PgBouncer ended with ${child.exitCode}`);
    return pooler;
  }

  /** The URL of the same database through the pooler. */
  urlOf(databaseUrl: string): string {
    const url = new URL(databaseUrl);
    url.host = `127.0.0.1:${this.port}`;
    return url.href;
  }

  async stop(): Promise<void> {
    if (this.process.exitCode === null) {
      this.process.kill('SIGQUIT');
      await once(this.process, 'exit');
    }
    rmSync(this.directory, { recursive: true, force: true });
  }

  private answers(): Promise<boolean> {
    return query(`postgres://any@127.0.0.1:${this.port}/pgbouncer`, 'SHOW VERSION').then(
      () => true,
      () => false,
    );
  }
}
