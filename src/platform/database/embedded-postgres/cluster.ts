import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, lchown, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { SUPERUSER } from './connection';
import { childOptions, commandLine, Launcher } from './launcher';
import { inSlowStep } from '../../logging/slow-step';
import { readIfExists } from './postmaster';

const WORKSPACE_INFIX = '.initdb-';

const run = promisify(execFile);

/**
 * Creates the cluster unless it exists.
 *
 * @returns the superuser's password
 * @throws Error when the cluster can't be created, or its password file is gone
 */
export async function ensureCluster(directory: string, launcher: Launcher): Promise<string> {
  await removeLeftovers(directory);
  if ((await readIfExists(join(directory, 'PG_VERSION'))) === '') return createCluster(directory, launcher);
  await giveTo(launcher, directory);
  return readPassword(directory);
}

/**
 * Runs initdb in a temporary folder, which is renamed when the cluster is complete: a killed process leaves nothing
 * half-made. Each attempt has its own folder, as the initdb of a killed process may still be running.
 */
async function createCluster(directory: string, launcher: Launcher): Promise<string> {
  const workspace = `${directory}${WORKSPACE_INFIX}${randomBytes(6).toString('hex')}`;
  try {
    await mkdir(workspace, { mode: 0o700 });
    await giveTo(launcher, workspace);
    const password = await writePassword(directory, launcher);
    await inSlowStep(`Creating a database in ${directory}`, () => initdb(directory, workspace, launcher));
    await rename(workspace, directory);
    return password;
  } catch (cause) {
    await rm(workspace, { recursive: true, force: true });
    throw new Error(`PostgreSQL's cluster in ${directory} can't be created: ${reasonOf(cause)}`, { cause });
  }
}

/**
 * Case conversion is that of the builtin C.UTF-8, which covers all of Unicode. The locale of the C library stays C, as
 * not every system has another. Nothing is synced to disk: a new cluster has no data to lose.
 */
async function initdb(directory: string, workspace: string, launcher: Launcher): Promise<void> {
  const [file, args] = commandLine(launcher, 'initdb', [
    `--pgdata=${workspace}`,
    '--encoding=UTF8',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--locale=C',
    '--auth=scram-sha-256',
    `--username=${SUPERUSER}`,
    `--pwfile=${passwordFile(directory)}`,
    '--no-sync',
    '--no-instructions',
  ]);
  await run(file, args, childOptions(launcher, directory));
}

async function removeLeftovers(directory: string): Promise<void> {
  const prefix = `${basename(directory)}${WORKSPACE_INFIX}`;
  const names = (await readdir(dirname(directory))).filter((name) => name.startsWith(prefix));
  for (const name of names) {
    // Removal may fail while an initdb still writes to the folder. The next start removes it.
    await rm(join(dirname(directory), name), { recursive: true, force: true }).catch(() => undefined);
  }
}

async function writePassword(directory: string, launcher: Launcher): Promise<string> {
  const password = randomBytes(24).toString('hex');
  await writeFile(passwordFile(directory), `${password}\n`, { mode: 0o600 });
  await chmod(passwordFile(directory), 0o600);
  await giveTo(launcher, passwordFile(directory));
  return password;
}

async function readPassword(directory: string): Promise<string> {
  try {
    return (await readFile(passwordFile(directory), 'utf8')).trim();
  } catch (cause) {
    throw new Error(
      `The password of the PostgreSQL cluster in ${directory} can't be read (${reasonOf(cause)}): restore the file, ` +
        'or remove the cluster to start with an empty one.',
      { cause },
    );
  }
}

function passwordFile(directory: string): string {
  return `${directory}.password`;
}

/** The folder's own entry changes its owner last: it shows that everything in the folder has changed its owner. */
async function giveTo({ account }: Launcher, path: string): Promise<void> {
  const stats = await stat(path);
  if (!account || stats.uid === account.uid) return;
  for (const name of stats.isDirectory() ? await readdir(path, { recursive: true }) : []) {
    await lchown(join(path, name), account.uid, account.gid);
  }
  await lchown(path, account.uid, account.gid);
}

function reasonOf(error: unknown): string {
  const { stderr, message } = error as { stderr?: string; message: string };
  return stderr?.trim() || message;
}
