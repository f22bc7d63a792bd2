import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** How a running service is. */
export interface Vitals {
  /** The longest time since the last look in which its event loop did nothing else, in milliseconds. */
  blocked: number;
  /** Of its main thread, in milliseconds since the start. */
  cpu: number;
  /** What is left after the garbage was collected, in bytes. */
  heap: number;
  /** Those of clients, of the database and of Redis. */
  sockets: number;
}

/** The service as it is delivered, in a process of its own that tells how it is. */
export class WatchedService {
  private constructor(
    private readonly child: ChildProcess,
    readonly port: number,
  ) {}

  /** @param settings environment variables besides those that every test has */
  static async start(settings: Record<string, string>): Promise<WatchedService> {
    const { PATH, TEST_DIRECTORY } = process.env;
    const env = { NODE_ENV: 'test', HOST: '127.0.0.1', PORT: '0', DATA_DIR: TEST_DIRECTORY, PATH, ...settings };
    const options = ['--expose-gc', '--require', join(__dirname, 'vitals.cjs')];
    const child = spawn(process.execPath, [...options, 'dist/main.js'], {
      env,
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    });
    return new WatchedService(child, await announcedPort(child));
  }

  get running(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  /** @throws Error when the service has ended */
  async vitals(): Promise<Vitals> {
    if (!this.running) throw new Error(`The service has ended: ${this.child.exitCode ?? this.child.signalCode}`);
    const done = new AbortController();
    const ended = once(this.child, 'exit', done).then(() => Promise.reject(new Error('The service has ended')));
    const answer = once(this.child, 'message', done);
    this.child.send('vitals');
    try {
      return ((await Promise.race([answer, ended])) as [Vitals])[0];
    } finally {
      ended.catch(() => undefined);
      done.abort();
    }
  }

  async stop(): Promise<void> {
    if (!this.running) return;
    this.child.kill('SIGKILL');
    await once(this.child, 'exit');
  }
}

async function announcedPort({ stdout }: ChildProcess): Promise<number> {
  for await (const line of createInterface({ input: stdout! })) {
    const { port } = JSON.parse(line) as { port?: number };
    if (port === undefined) continue;
    // Whatever else it says must not fill the pipe.
    stdout!.resume();
    return port;
  }
  throw new Error('The service ended before it said where it listens');
}
