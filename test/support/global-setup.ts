import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readSettings } from '../../src/platform/config/read-settings';
import { dataSourceOptions } from '../../src/platform/database/data-source';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/platform/database/embedded-postgres';
import { migrate } from '../../src/platform/database/migrate';
import { createDatabase, withDatabase } from './databases';

declare global {
  // Passed from the set-up to the tear-down, which run in the same process.
  var testDatabases: { embedded?: EmbeddedPostgres; directory: string; prefix: string; url: string };
}

const NOT_DURABLE = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '400' };

/**
 * Builds the service, and prepares a PostgreSQL, that of DATABASE_URL or a temporary one, with a migrated template
 * database, which each test file clones.
 */
export default async function globalSetup(): Promise<void> {
  build();
  const directory = mkdtempSync(join(tmpdir(), 'resource-api-test-'));
  const embedded = process.env.DATABASE_URL
    ? undefined
    : await startEmbeddedPostgres(join(directory, 'postgres'), { settings: NOT_DURABLE });
  const url = process.env.DATABASE_URL ?? embedded!.url;
  const prefix = `resource_api_test_${randomBytes(4).toString('hex')}`;
  globalThis.testDatabases = { embedded, directory, prefix, url };
  await createDatabase(url, `${prefix}_template`);
  await migrate(dataSourceOptions(readSettings({}), withDatabase(url, `${prefix}_template`)));
  process.env.TEST_SERVER_URL = url;
  process.env.TEST_DATABASE_PREFIX = prefix;
  process.env.TEST_DIRECTORY = directory;
}

/** Some tests start processes of the built service. */
function build(): void {
  const { status } = spawnSync(process.execPath, ['scripts/build-if-changed.mjs'], { stdio: 'inherit' });
  if (status !== 0) throw new Error('The build failed');
}
