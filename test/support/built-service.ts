import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';

/** Loaded before the service. */
const VITALS = resolve(__dirname, 'vitals.cjs');

/** How a running service is. */
export interface Vitals {
  /** The longest time since this was asked last in which it answered nobody, in milliseconds. */
  blocked: number;
  /** Of its main thread, in milliseconds since the start. */
  cpu: number;
  /** What is left after the garbage was collected, in bytes. */
  heap: number;
  /** Those of clients, of the database and of Redis. */
  sockets: number;
}

/**
 * The service as it is delivered, in a process of its own. Only the compiler's plugin makes documentation of doc
 * comments, so what is about documentation is about this one.
 */
export class BuiltService {
  private constructor(
    private readonly process: ChildProcess,
    readonly url: string,
  ) {}

  /**
   * @param settings environment variables besides those that every test has
   * @param watched whether {@link longestBlock} and {@link vitals} are going to be asked for
   * @param directory where another service than this one was built
   */
  static async start(
    settings: Record<string, string>,
    { watched = false, directory = '.' } = {},
  ): Promise<BuiltService> {
    const { PATH, TEST_DIRECTORY } = process.env;
    const env = { NODE_ENV: 'test', HOST: '127.0.0.1', PORT: '0', DATA_DIR: TEST_DIRECTORY, PATH, ...settings };
    const program = [...(watched ? ['--expose-gc', '--require', VITALS] : []), 'dist/main.js'];
    const child = spawn(process.execPath, program, {
      cwd: directory,
      env,
      stdio: ['ignore', 'pipe', 'inherit', ...(watched ? (['ipc'] as const) : [])],
    });
    return new BuiltService(child, `http://127.0.0.1:${await announcedPort(child)}`);
  }

  get running(): boolean {
    return this.process.exitCode === null && this.process.signalCode === null;
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  /** For how many milliseconds at most it has answered nobody since this was asked last. */
  async longestBlock(): Promise<number> {
    return (await this.ask<Pick<Vitals, 'blocked'>>('blocked')).blocked;
  }

  vitals(): Promise<Vitals> {
    return this.ask('vitals');
  }

  /** @throws Error when the service has ended */
  private async ask<T>(question: string): Promise<T> {
    if (!this.running) throw new Error(`The service has ended: ${this.process.exitCode ?? this.process.signalCode}`);
    const done = new AbortController();
    const ended = once(this.process, 'exit', done).then(() => Promise.reject(new Error('The service has ended')));
    const answer = once(this.process, 'message', done);
    this.process.send(question);
    try {
      return ((await Promise.race([answer, ended])) as [T])[0];
    } finally {
      ended.catch(() => undefined);
      done.abort();
    }
  }

  /** Without a warning, as by kill -9. */
  async stop(): Promise<void> {
    if (!this.running) return;
    this.process.kill('SIGKILL');
    await once(this.process, 'exit');
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
