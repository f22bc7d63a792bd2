import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions';
import { connect } from './connect';
import { withLock } from './with-lock';

/**
 * Brings the schema up to date. Any number of instances may start at once: one migrates, the others wait for it. The
 * data source is separate, because a migration may take longer than a statement of a request.
 */
export async function migrate({ extra: _limits, ...options }: PostgresDataSourceOptions): Promise<void> {
  const dataSource = await connect({ ...options, entities: [], poolSize: 2 });
  try {
    await withLock(dataSource, 'migrations', () => dataSource.runMigrations());
  } finally {
    await dataSource.destroy();
  }
}
