import { existsSync, mkdtempSync, readdirSync, rmSync, statfsSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { days, gibibytes } from '../units';

/** Linux has a file system in memory here. */
const MEMORY = '/dev/shm';
/** A run needs a fourth of it. */
const ROOM = gibibytes(1);
const PREFIX = 'resource-api-test-';

/**
 * Makes the folder of a run's databases: in memory where there is room, and among the temporary files elsewhere. A new
 * database is hundreds of files, which take 35 ms in memory, and up to 500 on a disk.
 *
 * @returns its absolute path. The caller removes it.
 */
export function makeDatabaseFolder(): string {
  const parent = existsSync(MEMORY) && freeIn(MEMORY) >= ROOM ? MEMORY : tmpdir();
  if (parent === MEMORY) removeLeftovers();
  return mkdtempSync(join(parent, PREFIX));
}

function freeIn(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

/** Nothing else frees the memory of a killed run. No run takes a day. */
function removeLeftovers(): void {
  const left = readdirSync(MEMORY).filter((name) => name.startsWith(PREFIX));
  for (const folder of left.map((name) => join(MEMORY, name))) {
    const { uid, mtimeMs = Infinity } = statSync(folder, { throwIfNoEntry: false }) ?? {};
    if (uid === process.getuid?.() && Date.now() - mtimeMs > days(1)) rmSync(folder, { recursive: true, force: true });
  }
}
