import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions';
import type { DataSource } from 'typeorm';
import { inSlowStep } from '../logging/slow-step';
import { connect } from './connect';
import { declaredMigrations } from './data-source';
import { requireSession } from './require-session';
import { withLock } from './with-lock';

/**
 * Brings the schema up to date. Any number of instances may start at once: one migrates, the others wait for it. The
 * data source is separate, because a migration may take longer than a statement of a request.
 */
export async function migrate({ extra: limits, ...options }: PostgresDataSourceOptions): Promise<void> {
  const own = { ...options, entities: [], poolSize: 2 };
  const dataSource = await connect(own);
  try {
    if (!('Client' in (limits ?? {}))) await requireSession(dataSource);
    await withLock(dataSource, 'migrations', async () => {
      await runPending(dataSource);
      const migrations = declaredMigrations();
      if (migrations.length > 0) await runAfterwards({ ...own, migrations });
    });
  } finally {
    await dataSource.destroy();
  }
}

/** In a data source of its own, because TypeORM runs all migrations of one in the order of their timestamps. */
async function runAfterwards(options: PostgresDataSourceOptions): Promise<void> {
  const dataSource = await connect(options);
  try {
    await runPending(dataSource);
  } finally {
    await dataSource.destroy();
  }
}

async function runPending(dataSource: DataSource): Promise<void> {
  const isPending = await dataSource.showMigrations();
  if (isPending) await inSlowStep('Migrating the database', () => dataSource.runMigrations());
}
