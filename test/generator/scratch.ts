import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

const AUTHOR = ['-c', 'user.name=Tests', '-c', 'user.email=tests@example.com'];

/** A copy of the work tree with a repository of its own, for commands that change files. */
export class Scratch {
  readonly directory = mkdtempSync(join(tmpdir(), 'resource-api-scratch-'));

  constructor() {
    const { stdout } = spawnSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
      encoding: 'utf8',
    });
    for (const path of stdout.split('\0').filter(Boolean)) {
      mkdirSync(dirname(join(this.directory, path)), { recursive: true });
      cpSync(path, join(this.directory, path), { force: true });
    }
    symlinkSync(resolve('node_modules'), join(this.directory, 'node_modules'), 'junction');
    this.expectRun('git', 'init', '--quiet');
    this.commit();
  }

  commit(): void {
    // The ignored folder is a symbolic link here, which the pattern of .gitignore doesn't match.
    this.expectRun('git', 'add', '--all', '--', '.', ':!node_modules');
    this.expectRun('git', ...AUTHOR, 'commit', '--quiet', '--allow-empty', '-m', 'Scratch');
  }

  /** What it says and how it ends. */
  run(command: string, ...args: string[]): { status: number | null; said: string } {
    const { stdout, stderr, status } = spawnSync(command, args, {
      cwd: this.directory,
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
      // Without the settings of the tests that run it.
      env: { ...process.env, NODE_ENV: undefined, JEST_WORKER_ID: undefined, DATA_DIR: join(this.directory, '.data') },
    });
    return { status, said: stdout + stderr };
  }

  /** @throws {Error} with what it says */
  expectRun(command: string, ...args: string[]): string {
    const { status, said } = this.run(command, ...args);
    if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}:\n${said}`);
    return said;
  }

  /** Files that differ from the last commit. */
  changes(): string[] {
    return this.expectRun('git', 'status', '--porcelain', '--', '.', ':!node_modules').split('\n').filter(Boolean);
  }

  delete(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}
