import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { resolveLauncher } from '../../src/platform/database/embedded-postgres/launcher';
import { query, times, waitFor } from '../../src/platform/testing';
import { freePort } from '../support/free-port';
import { DATABASE, Postgres } from './postgres';
import { NOBODY, Program } from './programs';

const HAPROXY = resolve('ops/cluster/haproxy.cfg');
const PGBOUNCER = resolve('ops/cluster/pgbouncer.ini');
const INSTANCES = 3;
const PROCESSES = process.env.CLUSTER_PROCESSES ?? '2';
const START_PATIENCE = 60_000;
const MAX_LOG = 4_000;
const NO_LIMIT = '1000000000';
export const ADMIN = { username: 'operator', password: randomBytes(12).toString('base64url') };

/** One instance of the service, with the pooler beside it. */
export interface Instance {
  service: Program;
  pooler: Program;
  url: string;
}

interface Ports {
  api: number;
  primary: number;
  redis: number;
  postgres: [number, number];
}

/** PostgreSQL with a standby, Redis, three instances with a pooler each, and HAProxy before all of them. */
export class Cluster {
  readonly instances: Instance[] = [];
  redis: Program;
  postgres: Postgres;
  private haproxy: Program;
  private ports: Ports;
  private readonly directory = mkdtempSync(join(tmpdir(), 'resource-api-cluster-'));
  private readonly password = randomBytes(12).toString('hex');
  private readonly secret = randomBytes(32).toString('hex');
  /** The folder of the build that instances start. */
  build = resolve('dist');

  get url(): string {
    return `http://127.0.0.1:${this.ports.api}`;
  }

  async start(): Promise<void> {
    chmodSync(this.directory, 0o755);
    const all: number[] = [];
    while (all.length < 5) all.push(await freePort());
    const [api, primary, redis, first, second] = all;
    this.ports = { api, primary, redis, postgres: [first, second] };
    await this.startPostgres();
    this.redis = this.program('redis', [
      'redis-server',
      ...['--port', String(redis), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'],
    ]).start();
    for (let number = 1; number <= INSTANCES; number++) this.instances.push(await this.instance(number));
    this.startHaproxy();
    await this.leadsToPrimary();
    for (const { pooler } of this.instances) pooler.start();
    for (const { service } of this.instances) service.start();
    await this.ready(this.url);
    for (const { url } of this.instances) await this.ready(url);
  }

  /** Resolves when an instance, or HAProxy with one of them, can serve. */
  ready(url: string): Promise<void> {
    const isReady = () =>
      fetch(`${url}/health/ready`).then(
        ({ status }) => status === 200,
        () => false,
      );
    return waitFor(isReady, START_PATIENCE);
  }

  /** Ends all programs, and removes their files. */
  async stop(): Promise<void> {
    const { instances, haproxy, redis, postgres } = this;
    const programs = [...instances.flatMap(({ service, pooler }) => [service, pooler]), haproxy, redis];
    for (const program of [...programs, postgres?.standby, postgres?.primary]) await program?.kill();
    rmSync(this.directory, { recursive: true, force: true });
  }

  /** The ends of what all programs have written. */
  logs(): string {
    const folders = [this.directory, join(this.directory, 'postgres')];
    const files = folders.flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)));
    return files
      .filter((file) => file.endsWith('.log'))
      .map((file) => `\n== ${file}\n${readFileSync(file, 'utf8').slice(-MAX_LOG)}`)
      .join('\n');
  }

  private async startPostgres(): Promise<void> {
    const directory = join(this.directory, 'postgres');
    const launcher = await resolveLauncher(directory);
    this.postgres = new Postgres({ launcher, directory, password: this.password, ports: this.ports.postgres });
    await this.postgres.start();
  }

  private startHaproxy(): void {
    const [first, second] = this.ports.postgres;
    const local = (port: number | string) => `127.0.0.1:${port}`;
    const env = {
      ...process.env,
      API_ADDRESS: local(this.ports.api),
      PRIMARY_ADDRESS: local(this.ports.primary),
      POSTGRES_1: local(first),
      POSTGRES_2: local(second),
      ...Object.fromEntries(
        this.instances.map(({ url }, index) => [`API_${index + 1}`, local(new URL(url).port)] as const),
      ),
    };
    this.haproxy = this.program('haproxy', ['haproxy', '-db', '-f', HAPROXY], { env }).start();
  }

  /** HAProxy takes each server for a primary until its checks have failed, and a migration fails on the standby. */
  private leadsToPrimary(): Promise<void> {
    const isPrimary = async () => {
      const [row] = await query(this.databaseUrl(this.ports.primary), 'SELECT NOT pg_is_in_recovery() AS found');
      return row.found as boolean;
    };
    // In turn to each server that is up.
    const all = () => Promise.all(times(4, isPrimary)).catch(() => [false]);
    return waitFor(async () => (await all()).every(Boolean), START_PATIENCE);
  }

  private async instance(number: number): Promise<Instance> {
    const [port, poolerPort] = [await freePort(), await freePort()];
    const name = `api-${number}`;
    const pooler = this.program(`pgbouncer-${number}`, ['pgbouncer', this.poolerFile(number, poolerPort)], NOBODY);
    const env = { ...this.environment, PORT: String(port), DATABASE_URL: this.databaseUrl(poolerPort) };
    const command = (): [string, string] => [process.execPath, join(this.build, 'main.js')];
    const service = new Program(name, this.directory, command, { env, cwd: this.directory });
    return { service, pooler, url: `http://127.0.0.1:${port}` };
  }

  /** The file of ops/, with the addresses of this machine: PgBouncer takes the last of several values. */
  private poolerFile(number: number, port: number): string {
    const file = join(this.directory, `pgbouncer-${number}.ini`);
    const users = join(this.directory, 'userlist.txt');
    writeFileSync(users, `"postgres" "${this.password}"\n`, { mode: 0o644 });
    const server = `host=127.0.0.1 port=${this.ports.primary}`;
    const text = readFileSync(PGBOUNCER, 'utf8').replace('host=haproxy port=5432', server);
    writeFileSync(
      file,
      `${text}listen_addr = 127.0.0.1\nlisten_port = ${port}\nauth_file = ${users}\nunix_socket_dir =\n` +
        'admin_users = postgres\n',
    );
    return file;
  }

  private get environment(): Record<string, string> {
    const data = join(this.directory, 'data');
    mkdirSync(data, { recursive: true });
    return {
      PATH: process.env.PATH ?? '',
      NODE_ENV: 'test',
      HOST: '127.0.0.1',
      LOG_LEVEL: 'error',
      DATA_DIR: data,
      DATABASE_POOLER: 'transaction',
      DATABASE_POOL_SIZE: '10',
      PROCESSES,
      JWT_SECRET: this.secret,
      REDIS_URL: `redis://127.0.0.1:${this.ports.redis}`,
      TRUST_PROXY: '1',
      ADMIN_USERNAME: ADMIN.username,
      ADMIN_PASSWORD: ADMIN.password,
      ADMIN_EMAIL: 'operator@example.com',
      // All callers have one address.
      LOGIN_ADDRESS_LIMIT: NO_LIMIT,
      REGISTRATION_RATE_LIMIT: NO_LIMIT,
      IDEMPOTENCY_KEY_LIMIT: NO_LIMIT,
      WRITE_QUOTA: '0',
      MIN_FREE_DISK: '0',
    };
  }

  private databaseUrl(port: number): string {
    return `postgres://postgres:${this.password}@127.0.0.1:${port}/${DATABASE}`;
  }

  private program(name: string, [file, ...args]: string[], options = {}): Program {
    return new Program(name, this.directory, () => [file, ...args], options);
  }
}
