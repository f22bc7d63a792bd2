/** Names for `main.ts`, `app.module.ts`, `ormconfig.ts` and commands such as the seed. */
// First, as traces change the libraries that the other files load.
import './traces/begin';

// Programs: for main.ts, app.module.ts, ormconfig.ts and commands.
/** All modules of the platform. */
export { PlatformModule } from './platform.module';
/** Starts the service, in one process or several, and stops it on a signal. */
export { run } from './process/run';
/** The demo accounts that the start tells of. */
export type { Demo } from './process/startup';
/** Tells what the start is at, if that takes long. */
export { inSlowStep } from './logging/slow-step';
/** Creates the application before it listens, with options of `NestFactory.create()`. */
export { createApplication, type NestOptions } from './process/create-application';
/** The settings without an application. */
export { ConfigModule } from './config/config.module';
export { environmentSettings } from './config/read-settings';
/** The database without an application, and the PostgreSQL that is used without DATABASE_URL. */
export { DatabaseModule } from './database/database.module';
export { dataSourceOptions } from './database/data-source';
export { startEmbeddedPostgres } from './database/embedded-postgres';
/** Adds a folder of migrations, which run after those of `src`. */
export { declareMigrations } from './database/data-source';
