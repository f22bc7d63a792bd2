import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';

/** The account of programs that refuse to run as root. */
export const NOBODY = process.geteuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};

/** A program of the cluster, in a process group of its own. */
export class Program {
  private child: ChildProcess;

  /** @param directory where its output goes, as `<name>.log` */
  constructor(
    readonly name: string,
    private readonly directory: string,
    private readonly command: () => [file: string, ...args: string[]],
    private readonly options: SpawnOptions = {},
  ) {}

  start(): this {
    const log = openSync(join(this.directory, `${this.name}.log`), 'a');
    const [file, ...args] = this.command();
    this.child = spawn(file, args, { ...this.options, detached: true, stdio: ['ignore', log, log] });
    // The failing check that waits for it reports it.
    this.child.on('error', () => undefined);
    closeSync(log);
    return this;
  }

  get pid(): number {
    return this.child.pid!;
  }

  get running(): boolean {
    return this.child?.pid !== undefined && this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Kills the process with all of its children, as by kill -9. */
  async kill(): Promise<void> {
    if (!this.running) return;
    const ended = once(this.child, 'exit');
    process.kill(-this.pid, 'SIGKILL');
    await ended;
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    if (!this.running) return;
    const ended = once(this.child, 'exit');
    this.child.kill(signal);
    await ended;
  }
}
