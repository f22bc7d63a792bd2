import { ChildProcess, spawn } from 'node:child_process';
import { FileHandle, open } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { probe } from './connection';
import { childOptions, commandLine, Launcher } from './launcher';
import { exists } from './ownership';
import {
  FAST_SHUTDOWN,
  IMMEDIATE_SHUTDOWN,
  isPostmaster,
  Postmaster,
  readIfExists,
  readPidFile,
  removePidFile,
  shutDown,
  waitUntil,
} from './postmaster';

/** A cluster, and what is needed to run its server and to connect to it. */
export interface PostgresServer {
  directory: string;
  launcher: Launcher;
  password: string;
}

const POLL_MS = 10;
const READY_PATIENCE_MS = 30_000;
const SILENCE_PATIENCE_MS = 3_000;
const START_ATTEMPTS = 5;
const RETRY_DELAY_MS = 200;
const LOG_LIMIT = 10 * 1024 * 1024;
const LOG_TAIL_LINES = 15;

/**
 * Errors that may pass: another program took the port, the processes of a killed server are about to end, or a server
 * that a killed process had just started was faster.
 */
const RETRYABLE = /could not bind|still in use|lock file/;

/**
 * Returns the running server of the cluster. Otherwise starts one on a free port of the loopback interface, if possible
 * the port of the last start.
 *
 * @throws Error when the running server refuses the password; or, with the last lines of the log, when a new one ends
 *   or isn't ready in time
 */
export async function findOrStartServer(
  server: PostgresServer,
  settings: Record<string, string>,
): Promise<Postmaster & { started: boolean }> {
  let preferredPort = await readLastPort(server.directory);
  for (let attempt = 1; ; attempt++) {
    const found = await findServer(server);
    if (found) return { ...found, started: false };
    try {
      return { ...(await launch(server, await findFreePort(preferredPort), settings)), started: true };
    } catch (error) {
      if (attempt === START_ATTEMPTS || !RETRYABLE.test(String(error))) throw error;
      preferredPort = 0;
      await sleep(RETRY_DELAY_MS);
    }
  }
}

/** Closes all connections, stops the server, and waits until it has ended. */
export async function stopServer(server: PostgresServer, pid: number): Promise<void> {
  await shutDown(server.directory, server.launcher, pid, FAST_SHUTDOWN);
}

/** Finds the running server. A server that doesn't answer is stopped. */
async function findServer(server: PostgresServer): Promise<Postmaster | undefined> {
  const { directory, launcher } = server;
  const found = await readPidFile(directory);
  if (found && (await isPostmaster(found.pid, directory))) {
    if (await answers(server, found)) return found;
    await shutDown(directory, launcher, found.pid, IMMEDIATE_SHUTDOWN);
  } else if (!found || exists(found.pid)) {
    // Left by a crash. PostgreSQL itself only ignores the file if no process has its pid.
    await removePidFile(directory);
  }
  return undefined;
}

async function launch(server: PostgresServer, port: number, settings: Record<string, string>): Promise<Postmaster> {
  const log = await openLog(server);
  try {
    const start = (await log.stat()).size;
    const child = spawnDetached(server, port, settings, log);
    const trouble = await untilReady(child, server);
    if (trouble === undefined && child.pid !== undefined) return { pid: child.pid, port };
    throw new Error(`PostgreSQL ${trouble}. The end of ${logFile(server.directory)}:\n${await readTail(log, start)}`);
  } finally {
    await log.close();
  }
}

/**
 * Started in a session of its own, so that Ctrl+C in the terminal doesn't reach the server. The application stops it
 * last.
 */
function spawnDetached(server: PostgresServer, port: number, settings: Record<string, string>, log: FileHandle) {
  const fixed = { port: String(port), listen_addresses: '127.0.0.1', unix_socket_directories: '' };
  const flags = Object.entries({ ...settings, ...fixed }).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const [file, words] = commandLine(server.launcher, 'postgres', ['-D', server.directory, ...flags]);
  const options = childOptions(server.launcher, server.directory);
  const child = spawn(file, words, { ...options, detached: true, stdio: ['ignore', log.fd, log.fd] });
  child.unref();
  return child;
}

/** Resolves to the reason of a failure, or to undefined. */
async function untilReady(child: ChildProcess, server: PostgresServer): Promise<string | undefined> {
  let trouble: string | undefined;
  child.once('error', (error) => (trouble = `can't be run: ${error.message}`));
  child.once('exit', (code, signal) => (trouble = `ended with ${signal ?? `code ${code}`}`));
  const isReady = async () => {
    const found = await readPidFile(server.directory);
    return trouble !== undefined || (found?.pid === child.pid && found?.ready === true);
  };
  if (await waitUntil(isReady, READY_PATIENCE_MS)) return trouble;
  if (child.pid !== undefined) await shutDown(server.directory, server.launcher, child.pid, IMMEDIATE_SHUTDOWN);
  return `isn't ready after ${READY_PATIENCE_MS / 1000} s`;
}

/** PostgreSQL writes the command line of its last start to a file. */
async function readLastPort(directory: string): Promise<number> {
  const options = await readIfExists(join(directory, 'postmaster.opts'));
  return Number(/"port=(\d+)"/.exec(options)?.[1] ?? 0);
}

/** A server that is starting or stopping says so, and gets more time than a silent one. */
async function answers(server: PostgresServer, { pid, port }: Postmaster): Promise<boolean> {
  const start = Date.now();
  for (;;) {
    const answer = await probe(port, server.password);
    if (answer === 'working') return true;
    if (answer === 'refusal') throw new Error(`PostgreSQL refuses the password in ${server.directory}.password.`);
    const patience = answer === 'busy' ? READY_PATIENCE_MS : SILENCE_PATIENCE_MS;
    if (Date.now() - start > patience || !(await isPostmaster(pid, server.directory))) return false;
    await sleep(POLL_MS);
  }
}

async function findFreePort(preferred: number): Promise<number> {
  return (await tryPort(preferred)) ?? (await tryPort(0)) ?? 0;
}

async function tryPort(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const listener = createServer();
    listener.once('error', () => resolve(undefined));
    listener.listen(port, '127.0.0.1', () => {
      const address = listener.address();
      listener.close(() => resolve(typeof address === 'object' ? address?.port : undefined));
    });
  });
}

/** The log of all starts, truncated above a limit. */
async function openLog({ directory, launcher: { account } }: PostgresServer): Promise<FileHandle> {
  const log = await open(logFile(directory), 'a+', 0o600);
  if ((await log.stat()).size > LOG_LIMIT) await log.truncate();
  if (account) await log.chown(account.uid, account.gid);
  return log;
}

function logFile(directory: string): string {
  return `${directory}.log`;
}

async function readTail(log: FileHandle, start: number): Promise<string> {
  const { size } = await log.stat();
  const { buffer } = await log.read(Buffer.alloc(size - start), 0, size - start, start);
  return buffer.toString('utf8').trimEnd().split('\n').slice(-LOG_TAIL_LINES).join('\n');
}
