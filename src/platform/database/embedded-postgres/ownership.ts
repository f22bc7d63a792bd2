import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { mkdir, rm, utimes, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const LOCK_POLL_MS = 20;
const LOCK_PATIENCE_MS = 120_000;
const LOCK_REFRESH_MS = 1_000;
const LOCK_EXPIRY_MS = 10_000;

/** True if there is a process with this pid, even another user's or a zombie. */
export function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** A zombie counts as ended. Only its parent has yet to read its status, which never happens in some containers. */
function isAlive(pid: number): boolean {
  try {
    return exists(pid) && !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return exists(pid); // Not every system has /proc.
  }
}

/**
 * Runs `action` while no other process works on the cluster.
 *
 * @throws Error when another process holds the lock for too long
 */
export async function withLock<T>(directory: string, action: () => Promise<T>): Promise<T> {
  const lock = `${directory}.lock`;
  await acquire(lock);
  // Shows that the holder is alive: after a crash its pid may soon belong to another process, above all in containers.
  const refresh = setInterval(() => void utimes(lock, new Date(), new Date()).catch(() => undefined), LOCK_REFRESH_MS);
  try {
    return await action();
  } finally {
    clearInterval(refresh);
    removeIfOurs(lock);
  }
}

async function acquire(lock: string): Promise<void> {
  // The folder may have been removed under a running server, which must still be stopped.
  await mkdir(dirname(lock), { recursive: true });
  const deadline = Date.now() + LOCK_PATIENCE_MS;
  while (!createFile(lock)) {
    removeIfStale(lock);
    if (Date.now() > deadline) throw new Error(`Another process holds ${lock}: if none does, remove that file.`);
    await sleep(LOCK_POLL_MS);
  }
}

/**
 * Removing a stale lock takes another lock: of two processes that saw the stale one, the slower would remove the new
 * lock of the faster.
 */
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
  // Without a pid, its process is about to write it, or was killed before it could. Then the file expires.
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
 * Makes this process the owner, which stops the server, unless another living process owns it.
 *
 * @param started true if the server was just started, so that a recorded owner is a former one
 * @returns true if this process owns the server
 */
export async function claimServer(directory: string, started: boolean): Promise<boolean> {
  const owner = readPid(ownerFile(directory));
  if (!started && owner !== undefined && isAlive(owner)) return false;
  // Removed first: the file may belong to another user, in a folder of this one.
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

/** Another process may have taken over while this one was suspended. */
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
