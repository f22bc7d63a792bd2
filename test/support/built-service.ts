import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { PLACES } from './tested-places';

/** Preloaded into the service's process. */
const VITALS = resolve(__dirname, 'vitals.cjs');

/** The state of a running service. */
export interface Vitals {
  /** The longest time without an answer since the last question, in milliseconds. */
  blocked: number;
  /** CPU time of the main thread since the start, in milliseconds. */
  cpu: number;
  /** Bytes of the heap after a garbage collection. */
  heap: number;
  /** Open sockets of clients, of the database and of Redis. */
  sockets: number;
}

/**
 * The built service in a process of its own. Only the compiler's plugin turns doc comments into documentation, so tests
 * of documentation need it.
 */
export class BuiltService {
  private constructor(
    private readonly process: ChildProcess,
    readonly url: string,
  ) {}

  /**
   * @param settings environment variables besides those that every test has
   * @param watched enables {@link longestBlock} and {@link vitals}
   * @param directory the project of another build
   * @param script the program in it
   */
  static async start(
    settings: Record<string, string>,
    { watched = false, directory = '.', script = PLACES.program } = {},
  ): Promise<BuiltService> {
    const { PATH, TEST_DIRECTORY } = process.env;
    const env = { NODE_ENV: 'test', HOST: '127.0.0.1', PORT: '0', DATA_DIR: TEST_DIRECTORY, PATH, ...settings };
    const program = [...(watched ? ['--expose-gc', '--require', VITALS] : []), script];
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

  /** The longest time without an answer since the last call, in milliseconds. */
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

  /** Kills the service, as by kill -9. */
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
    // The rest of its output must not fill the pipe.
    stdout!.resume();
    return port;
  }
  throw new Error('The service ended before it said where it listens');
}
