import { join } from 'node:path';
import pg from 'pg';
import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions';
import type { Settings } from '../config/settings';
import { CancellablePool } from '../transactions/cancellable-pool';
import { IDLE_TIMES } from '../transactions/limited-pool';
import { getTypeParser } from './type-parsers';

const CONNECT_TIMEOUT_MS = 10_000;
/** Those of the platform, and those of resources. They run in the order of the times in the names of their classes. */
const MIGRATIONS = ['migrations', '../../migrations'].map((folder) => join(__dirname, folder, '*.{js,ts}'));

/** How the service, its tests and TypeORM's command line reach the database. */
export function dataSourceOptions(settings: Settings, url: string): PostgresDataSourceOptions {
  return {
    type: 'postgres',
    url,
    driver: { ...pg, Pool: CancellablePool },
    poolSize: settings.DATABASE_POOL_SIZE,
    connectTimeoutMS: CONNECT_TIMEOUT_MS,
    applicationName: 'resource-api',
    // Ids leave as JSON numbers; see MAX_ID.
    parseInt8: true,
    installExtensions: false,
    // Generated UUIDs are gen_random_uuid() of PostgreSQL itself: TypeORM's default is a function of an extension.
    uuidExtension: 'pgcrypto',
    migrations: MIGRATIONS,
    migrationsTransactionMode: 'each',
    extra: {
      types: { getTypeParser },
      // A second line behind the request timeout: no statement outlives a request by more than its own length.
      statement_timeout: settings.REQUEST_TIMEOUT,
      idle_in_transaction_session_timeout: IDLE_TIMES * settings.REQUEST_TIMEOUT,
    },
  };
}
