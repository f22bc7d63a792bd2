import 'reflect-metadata';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { environmentSettings, startEmbeddedPostgres } from '../../src/platform/programs';

/** Whether the database of the settings, or the embedded one, has applied one of these migrations. */
export async function isApplied(...names: string[]): Promise<boolean> {
  const settings = environmentSettings();
  const directory = join(settings.DATA_DIR, 'postgres');
  if (settings.DATABASE_URL) return hasMigration(settings.DATABASE_URL, names);
  if (!existsSync(directory)) return false;
  const embedded = await startEmbeddedPostgres(directory);
  try {
    return await hasMigration(embedded.url, names);
  } finally {
    await embedded.stop();
  }
}

async function hasMigration(url: string, names: string[]): Promise<boolean> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ known: boolean }>("SELECT to_regclass('migrations') IS NOT NULL AS known");
    if (!rows[0].known) return false;
    const { rowCount } = await client.query('SELECT FROM migrations WHERE name = ANY ($1)', [names]);
    return rowCount! > 0;
  } finally {
    await client.end();
  }
}
