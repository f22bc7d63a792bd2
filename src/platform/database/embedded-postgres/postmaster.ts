import { execFile } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Launcher } from './launcher';
import { exists } from './ownership';

/** The main process of a server, and its port. */
export interface Postmaster {
  pid: number;
  port: number;
}

/** Signals to send one after the other, each with the time to wait for the end. */
type Shutdown = [signal: NodeJS.Signals, patienceMs: number][];

const POLL_MS = 10;

/** Closes all connections first. */
export const FAST_SHUTDOWN: Shutdown = [
  ['SIGINT', 10_000],
  ['SIGQUIT', 6_000],
  ['SIGKILL', 2_000],
];
/** Doesn't wait for anything: the next start recovers the cluster. */
export const IMMEDIATE_SHUTDOWN: Shutdown = FAST_SHUTDOWN.slice(1);

/** Polls until the condition holds. Returns false when the time is up. */
export async function waitUntil(condition: () => Promise<boolean>, patienceMs: number): Promise<boolean> {
  const deadline = Date.now() + patienceMs;
  while (!(await condition())) {
    if (Date.now() > deadline) return false;
    await sleep(POLL_MS);
  }
  return true;
}

/**
 * Reads the postmaster's file. Its lines are: pid, directory, start time, port, socket, address, shared memory, status.
 */
export async function readPidFile(directory: string): Promise<(Postmaster & { ready: boolean }) | undefined> {
  const lines = (await readIfExists(pidFile(directory))).split('\n');
  const pid = Number.parseInt(lines[0] ?? '', 10);
  const port = Number.parseInt(lines[3] ?? '', 10);
  return pid > 0 ? { pid, port, ready: lines[7]?.trim() === 'ready' } : undefined;
}

/** Removes the file of a server that has ended. */
export async function removePidFile(directory: string): Promise<void> {
  await rm(pidFile(directory), { force: true });
}

function pidFile(directory: string): string {
  return join(directory, 'postmaster.pid');
}

/** The text of a file; empty if it doesn't exist. */
export async function readIfExists(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return '';
    throw error;
  }
}

/**
 * True if the process is the postmaster of this cluster. The pid alone isn't enough: another program may have it by
 * now, and a copied cluster has the pid of the original's server. Zombies don't count.
 */
export async function isPostmaster(pid: number, directory: string): Promise<boolean> {
  if (!exists(pid)) return false;
  const command = await readCommand(pid).catch(() => '');
  return process.platform === 'win32' ? command.includes('postgres') : command.includes(` -D ${directory} -c `);
}

async function readCommand(pid: number): Promise<string> {
  if (process.platform === 'linux') return (await readFile(`/proc/${pid}/cmdline`, 'utf8')).replaceAll('\0', ' ');
  const [tool, args] =
    process.platform === 'win32'
      ? ['tasklist', ['/NH', '/FI', `PID eq ${pid}`]]
      : ['ps', ['-ww', '-o', 'command=', '-p', String(pid)]];
  return (await promisify(execFile)(tool, args)).stdout;
}

/**
 * Ends the server and waits until it has gone.
 *
 * @throws Error when it survives all signals
 */
export async function shutDown(directory: string, launcher: Launcher, pid: number, steps: Shutdown): Promise<void> {
  const isGone = async () => !(await isPostmaster(pid, directory));
  for (const [signal, patience] of steps) {
    if (await isGone()) return;
    await send(launcher, pid, signal);
    if (await waitUntil(isGone, patience)) return;
  }
  throw new Error(`PostgreSQL (process ${pid}) doesn't end.`);
}

async function send(launcher: Launcher, pid: number, signal: NodeJS.Signals): Promise<void> {
  if (process.platform === 'win32') {
    // Windows has no signals. PostgreSQL's own tool sends them there.
    await promisify(execFile)(join(launcher.binaries, 'pg_ctl'), ['kill', signal.slice(3), String(pid)]);
    return;
  }
  try {
    process.kill(pid, signal);
    process.kill(pid, 'SIGCONT'); // A suspended process wouldn't receive the signal.
  } catch (error) {
    if (codeOf(error) !== 'ESRCH') throw error;
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as { code?: string }).code;
}
