import { join } from 'node:path';
import { environmentSettings, startEmbeddedPostgres } from '../../src/platform/programs';
import { createDatabase, dropDatabase } from '../../src/platform/testing/databases';

/** Runs `work` with an empty database, on the server of the settings or the embedded one. */
export async function inScratchDatabase<T>(work: (url: string) => Promise<T>): Promise<T> {
  const { DATABASE_URL, DATA_DIR } = environmentSettings();
  const embedded = DATABASE_URL ? undefined : await startEmbeddedPostgres(join(DATA_DIR, 'postgres'));
  const server = DATABASE_URL ?? embedded!.url;
  const name = `resource_api_migrations_${process.pid}`;
  try {
    return await work(await createDatabase(server, name));
  } finally {
    await dropDatabase(server, name);
    await embedded?.stop();
  }
}
