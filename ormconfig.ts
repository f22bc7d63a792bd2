import 'reflect-metadata';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { generatePortably } from './scripts/migrations/noted-definitions';
import { askOneByOne } from './scripts/migrations/one-by-one';
import { dataSourceOptions, environmentSettings, startEmbeddedPostgres } from './src/platform/programs';

/** The data source for TypeORM's command line: the database of DATABASE_URL, or the embedded one. */
async function commandLineDataSource(): Promise<DataSource> {
  const settings = environmentSettings();
  const embedded = settings.DATABASE_URL ? undefined : await startEmbeddedPostgres(join(settings.DATA_DIR, 'postgres'));
  const dataSource = new DataSource({
    ...dataSourceOptions(settings, settings.DATABASE_URL ?? embedded!.url),
    // A migration may take longer than a request.
    extra: undefined,
    entities: [join(__dirname, 'src/**/*.entity.ts')],
  });
  generatePortably(dataSource);
  askOneByOne(dataSource);
  const destroy = dataSource.destroy.bind(dataSource);
  dataSource.destroy = async () => {
    await destroy();
    await embedded?.stop();
  };
  return dataSource;
}

export default commandLineDataSource();
