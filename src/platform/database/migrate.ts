import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions';
import { minutes } from '../units';
import { connect } from './connect';
import { declaredMigrations } from './data-source';
import { requireSession } from './require-session';
import { runPending } from './run-pending';
import { withLock } from './with-lock';

/**
 * Brings the schema up to date. Any number of instances may start at once: one migrates, the others wait for it. The
 * data source is separate, because a migration may take longer than a statement of a request.
 * @param longestHold for how many milliseconds others may hold a table that a migration changes, such as exports. Default:
 *   15 minutes
 */
export async function migrate(
  { extra: limits, ...options }: PostgresDataSourceOptions,
  longestHold = minutes(15),
): Promise<void> {
  // Without names: the statements of a migration hardly come again, and behind a pooler another session may know the name.
  const own = { ...options, extra: { names: false }, entities: [], poolSize: 2 };
  const dataSource = await connect(own);
  try {
    if (!('Client' in (limits ?? {}))) await requireSession(dataSource);
    await withLock(dataSource, 'migrations', async () => {
      await runPending(dataSource, longestHold);
      const migrations = declaredMigrations();
      if (migrations.length > 0) await runAfterwards({ ...own, migrations }, longestHold);
    });
  } finally {
    await dataSource.destroy();
  }
}

/** In a data source of its own, because TypeORM runs all migrations of one in the order of their timestamps. */
async function runAfterwards(options: PostgresDataSourceOptions, longestHold: number): Promise<void> {
  const dataSource = await connect(options);
  try {
    await runPending(dataSource, longestHold);
  } finally {
    await dataSource.destroy();
  }
}
