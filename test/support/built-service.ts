import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/**
 * The service as it is delivered, in a process of its own. Only the compiler's plugin makes documentation of doc
 * comments, so what is about documentation is about this one.
 */
export class BuiltService {
  private constructor(
    private readonly process: ChildProcess,
    readonly url: string,
  ) {}

  /** @param settings environment variables besides those that every test has */
  static async start(settings: Record<string, string>): Promise<BuiltService> {
    const { PATH, TEST_DIRECTORY } = process.env;
    const env = { NODE_ENV: 'test', HOST: '127.0.0.1', PORT: '0', DATA_DIR: TEST_DIRECTORY, PATH, ...settings };
    const child = spawn(process.execPath, ['dist/main.js'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    return new BuiltService(child, `http://127.0.0.1:${await announcedPort(child)}`);
  }

  get running(): boolean {
    return this.process.exitCode === null && this.process.signalCode === null;
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
