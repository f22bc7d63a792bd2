import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { mkdir, rm, utimes, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const LOCK_POLL_MS = 20;
const LOCK_PATIENCE_MS = 120_000;
const LOCK_REFRESH_MS = 1_000;
const LOCK_EXPIRY_MS = 10_000;

/** Whether there is such a process, be it another user's or a zombie. */
export function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** A zombie has ended; only its parent has yet to notice, which some containers never do. */
function isAlive(pid: number): boolean {
  try {
    return exists(pid) && !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return exists(pid); // Not every system has /proc.
  }
}

/**
 * Does something to a cluster while no other process does.
 *
 * @throws Error when another process holds the lock for too long
 */
export async function withLock<T>(directory: string, action: () => Promise<T>): Promise<T> {
  const lock = `${directory}.lock`;
  await acquire(lock);
  // Shows that the holder is at work: after a crash its pid may soon be another process's, above all in containers.
  const refresh = setInterval(() => void utimes(lock, new Date(), new Date()).catch(() => undefined), LOCK_REFRESH_MS);
  try {
    return await action();
  } finally {
    clearInterval(refresh);
    removeIfOurs(lock);
  }
}

async function acquire(lock: string): Promise<void> {
  // The folder may have been removed under a running server, which is to be stopped all the same.
  await mkdir(dirname(lock), { recursive: true });
  const deadline = Date.now() + LOCK_PATIENCE_MS;
  while (!createFile(lock)) {
    removeIfStale(lock);
    if (Date.now() > deadline) throw new Error(`Another process holds ${lock}: if none does, remove that file.`);
    await sleep(LOCK_POLL_MS);
  }
}

/** Removal has a lock of its own: of two that saw a stale lock, the slower would remove the faster one's new lock. */
function removeIfStale(lock: string): void {
  const claim = `${lock}.claim`;
  if (!isStale(lock)) return;
  if (isStale(claim)) rmSync(claim, { force: true });
  if (!createFile(claim)) return;
  try {
    if (isStale(lock)) rmSync(lock, { force: true });
  } finally {
    rmSync(claim, { force: true });
  }
}

function isStale(file: string): boolean {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (!stats) return false;
  if (Date.now() - stats.mtimeMs > LOCK_EXPIRY_MS) return true;
  // No pid: its process is about to write it, or was killed just then and the file expires.
  const pid = readPid(file);
  return pid !== undefined && !isAlive(pid);
}

function createFile(file: string): boolean {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/**
 * Makes this process the one which stops the server, unless it runs for another living one.
 *
 * @param started whether the server has just been started, so that an owner can only be a former one
 * @returns whether the server is this process's
 */
export async function claimServer(directory: string, started: boolean): Promise<boolean> {
  const owner = readPid(ownerFile(directory));
  if (!started && owner !== undefined && isAlive(owner)) return false;
  // Removed first: the file may be another user's, in a folder of ours.
  await rm(ownerFile(directory), { force: true });
  await writeFile(ownerFile(directory), String(process.pid));
  return true;
}

/** Forgets that this process owns a server it has stopped. */
export function releaseServer(directory: string): void {
  removeIfOurs(ownerFile(directory));
}

function ownerFile(directory: string): string {
  return `${directory}.owner`;
}

/** Another process may have taken over when this one was suspended. */
function removeIfOurs(file: string): void {
  if (readPid(file) === process.pid) rmSync(file, { force: true });
}

function readPid(file: string): number | undefined {
  try {
    return Number.parseInt(readFileSync(file, 'utf8'), 10) || undefined;
  } catch {
    return undefined;
  }
}
