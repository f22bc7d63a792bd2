import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readSettings } from '../config/read-settings';
import { dataSourceOptions } from '../database/data-source';
import { EmbeddedPostgres, startEmbeddedPostgres } from '../database/embedded-postgres';
import { migrate } from '../database/migrate';
import { makeDatabaseFolder } from './database-folder';
import { createDatabase, dropDatabase, dropDatabases, withDatabase } from './databases';

const NOT_DURABLE = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };
/** Each of some hundred databases lives for seconds: nothing tidies them up meanwhile. */
const SHORT_LIVED = { autovacuum: 'off', checkpoint_timeout: '1h', max_wal_size: '256MB' };
const SETTINGS = { ...NOT_DURABLE, ...SHORT_LIVED, max_connections: '400' };

/** How many this process has made for the current test file. */
let databases = 0;

/** What the tests of a run share. */
export interface TestRun {
  /** The URL of the PostgreSQL server. */
  server: string;
  /** The beginning of the names of all its databases. */
  prefix: string;
  /** A temporary directory. */
  directory: string;
  /** The address of a pooler in transaction mode, `host:port`, through which the applications reach their databases. */
  pooler?: string;
  /** The URL of a Redis. Without it the applications count in memory. */
  redis?: string;
}

/**
 * Prepares a PostgreSQL, that of DATABASE_URL or a temporary one, with a migrated template database, which each test
 * file clones. Call it in the `globalSetup` of Jest, and the returned function in the `globalTeardown`.
 */
export async function startTestRun(): Promise<() => Promise<void>> {
  const directory = mkdtempSync(join(tmpdir(), 'resource-api-test-'));
  const given = process.env.DATABASE_URL;
  const embedded = given ? undefined : await startDatabases();
  const server = given ?? embedded!.url;
  const prefix = `resource_api_test_${randomBytes(4).toString('hex')}`;
  await createDatabase(server, templateOf(prefix));
  const settings = readSettings({});
  await migrate(dataSourceOptions(settings, withDatabase(server, templateOf(prefix))), settings.EXPORT_TIMEOUT);
  // The processes of the tests inherit the environment.
  process.env.TEST_SERVER_URL = server;
  process.env.TEST_DATABASE_PREFIX = prefix;
  process.env.TEST_DIRECTORY = directory;
  return async () => {
    await (embedded ? embedded.stop() : dropDatabases(server, prefix));
    rmSync(directory, { recursive: true, force: true });
  };
}

async function startDatabases(): Promise<EmbeddedPostgres> {
  const folder = makeDatabaseFolder();
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    const postgres = await startEmbeddedPostgres(join(folder, 'postgres'), { settings: SETTINGS });
    return { url: postgres.url, stop: () => postgres.stop().finally(remove) };
  } catch (error) {
    remove();
    throw error;
  }
}

/** @throws {Error} in a process that Jest didn't start after {@link startTestRun} */
export function testRun(): TestRun {
  const { TEST_SERVER_URL, TEST_DATABASE_PREFIX, TEST_DIRECTORY, TEST_POOLER_ADDRESS, REDIS_URL } = process.env;
  if (!TEST_SERVER_URL || !TEST_DATABASE_PREFIX || !TEST_DIRECTORY) {
    throw new Error('No database is prepared: call startTestRun() of src/platform/testing in the globalSetup of Jest.');
  }
  return {
    server: TEST_SERVER_URL,
    prefix: TEST_DATABASE_PREFIX,
    directory: TEST_DIRECTORY,
    pooler: TEST_POOLER_ADDRESS,
    redis: REDIS_URL,
  };
}

/** A new database of the service: migrated, without rows. The caller drops it. */
export async function cloneTemplate(): Promise<{ url: string; drop: () => Promise<void> }> {
  const { server, prefix } = testRun();
  const name = `${prefix}_${process.env.JEST_WORKER_ID}_${process.pid}_${databases++}`;
  return { url: await createDatabase(server, name, templateOf(prefix)), drop: () => dropDatabase(server, name) };
}

const templateOf = (prefix: string): string => `${prefix}_template`;
