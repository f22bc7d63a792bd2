import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';

const WATCH = resolve(__dirname, 'event-loop-watch.cjs');

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
   * @param watched whether {@link longestBlock} is going to be asked for
   */
  static async start(settings: Record<string, string>, { watched = false } = {}): Promise<BuiltService> {
    const { PATH, TEST_DIRECTORY } = process.env;
    const env = { NODE_ENV: 'test', HOST: '127.0.0.1', PORT: '0', DATA_DIR: TEST_DIRECTORY, PATH, ...settings };
    const program = [...(watched ? ['--require', WATCH] : []), 'dist/main.js'];
    const child = spawn(process.execPath, program, {
      env,
      stdio: ['ignore', 'pipe', 'inherit', ...(watched ? (['ipc'] as const) : [])],
    });
    return new BuiltService(child, `http://127.0.0.1:${await announcedPort(child)}`);
  }

  get running(): boolean {
    return this.process.exitCode === null && this.process.signalCode === null;
  }

  /** For how many milliseconds at most it has answered nobody since this was asked last. */
  async longestBlock(): Promise<number> {
    const answer = once(this.process, 'message') as Promise<[{ longest: number }]>;
    this.process.send('How long?');
    return (await answer)[0].longest;
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
