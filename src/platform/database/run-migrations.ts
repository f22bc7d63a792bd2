import { environmentSettings } from '../config/read-settings';
import { dataSourceOptions } from './data-source';
import { migrate } from './migrate';

/** Brings the schema of DATABASE_URL up to date and exits: for a deployment with a separate migration step. */
async function run(): Promise<void> {
  const settings = environmentSettings();
  if (!settings.DATABASE_URL) throw new Error('DATABASE_URL must be set');
  await migrate(dataSourceOptions(settings, settings.DATABASE_URL), settings.EXPORT_TIMEOUT);
}

run().catch((error: Error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
