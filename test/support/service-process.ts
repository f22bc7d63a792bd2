import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { waitFor } from '../../src/platform/testing';
import { PLACES } from './tested-places';

const ROOT = resolve(__dirname, '../..');
/** Built by global-setup.ts. */
const PROGRAM = join(ROOT, PLACES.program);
const START_PATIENCE_MS = 60_000;

type Environment = Record<string, string>;

/** The service in a process of its own. A test sees its output and how it ends. */
export class ServiceProcess {
  stdout = '';
  stderr = '';
  /** Resolves when it has ended and all its output has arrived, to its exit code or the signal that killed it. */
  readonly ended: Promise<number | NodeJS.Signals>;

  private constructor(private readonly child: ChildProcess) {
    child.stdout!.setEncoding('utf8').on('data', (text: string) => (this.stdout += text));
    child.stderr!.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
    this.ended = once(child, 'close').then(([code, signal]) => (code ?? signal) as number | NodeJS.Signals);
  }

  /**
   * @param environment its whole environment. The working directory is empty, so that no `.env` is read
   * @param options those of Node
   */
  static spawn(environment: Environment, directory: string, options: string[] = []): ServiceProcess {
    const { PATH = '' } = process.env;
    const env = { PATH, PORT: '0', ...environment };
    return new ServiceProcess(spawn(process.execPath, [...options, PROGRAM], { cwd: directory, env }));
  }

  get pid(): number {
    return this.child.pid!;
  }

  get running(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  get lines(): string[] {
    return this.stdout.split('\n').filter(Boolean);
  }

  /** The URL that it prints; undefined before. */
  get url(): string | undefined {
    const [, scheme, port] = /(https?):\/\/localhost:(\d+)\/api/.exec(this.stdout) ?? [];
    return scheme && `${scheme}://127.0.0.1:${port}`;
  }

  get port(): number {
    return Number(new URL(this.url!).port);
  }

  /** Resolves when it prints its URL. */
  async listening(): Promise<this> {
    await waitFor(() => this.url !== undefined || !this.running, START_PATIENCE_MS);
    if (!this.url) throw new Error(`The service doesn't listen.\n${this.stdout}\n${this.stderr}`);
    return this;
  }

  get(path: string, headers: Environment = {}): Promise<Response> {
    // A connection for each request, so that none is left open when it stops.
    return fetch(`${this.url}${path}`, { headers: { Connection: 'close', ...headers } });
  }

  send(method: string, path: string, body: object, headers: Environment = {}): Promise<Response> {
    const all = { Connection: 'close', 'Content-Type': 'application/json', ...headers };
    return fetch(`${this.url}/api/v1${path}`, { method, body: JSON.stringify(body), headers: all });
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | NodeJS.Signals> {
    this.signal(signal);
    return this.ended;
  }
}

/** The services of a test file, and their temporary directories. None outlives its tests. */
export class Services {
  private readonly processes: ServiceProcess[] = [];
  private readonly directories: string[] = [];

  newDirectory(): string {
    const directory = mkdtempSync(join(tmpdir(), 'resource-api-process-'));
    this.directories.push(directory);
    return directory;
  }

  spawn(environment: Environment, options?: string[]): ServiceProcess {
    const service = ServiceProcess.spawn(environment, this.newDirectory(), options);
    this.processes.push(service);
    return service;
  }

  start(environment: Environment, options?: string[]): Promise<ServiceProcess> {
    return this.spawn(environment, options).listening();
  }

  /** Kills what a failed test has left running. */
  async end(): Promise<void> {
    for (const service of this.processes.splice(0)) if (service.running) await service.stop('SIGKILL');
  }

  async cleanUp(): Promise<void> {
    for (const directory of this.directories) {
      const server = postmasterOf(directory);
      if (server) await endPostmaster(server);
      rmSync(directory, { recursive: true, force: true });
    }
  }
}

/** @param keep whether a service may serve several tests. Default: each is stopped after the test that started it */
export function useServices({ keep = false } = {}): Services {
  const services = new Services();
  if (!keep) afterEach(() => services.end());
  afterAll(async () => {
    await services.end();
    await services.cleanUp();
  });
  return services;
}

/** The pid of the embedded server's main process. */
export function postmasterOf(dataDirectory: string): number | undefined {
  const pid = Number.parseInt(readIfThere(join(dataDirectory, 'postgres/postmaster.pid')), 10);
  return isAlive(pid) ? pid : undefined;
}

export function isAlive(pid: number): boolean {
  try {
    // A zombie has ended. Only its parent can remove it.
    return process.kill(pid, 0) && !/\) Z /.test(readIfThere(`/proc/${pid}/stat`));
  } catch {
    return false;
  }
}

/** Resolves when the process has ended, which may take a moment after it has closed everything. */
export function hasEnded(pid: number): Promise<void> {
  return waitFor(() => !isAlive(pid));
}

async function endPostmaster(pid: number): Promise<void> {
  process.kill(pid, 'SIGQUIT');
  await hasEnded(pid);
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** A user of the demo data. */
export const demoSignIn = { username: 'ada', password: 'demo-password' };

/** The value of `Authorization` after a sign-in. */
export async function tokenOf(service: ServiceProcess, { username, password }: typeof demoSignIn): Promise<string> {
  const response = await service.send('POST', '/auth/tokens', { username, password });
  expect(response.status).toBe(201);
  return `Bearer ${(await response.json()).data.access_token}`;
}
