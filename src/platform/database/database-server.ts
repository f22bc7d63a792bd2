import { join } from 'node:path';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { DataSource } from 'typeorm';
import type { Settings } from '../config/settings';
import { StartupError } from '../config/startup-error';
import { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded-postgres';

/** The PostgreSQL server: the one that DATABASE_URL names, or an embedded one that stops with the application. */
@Injectable()
export class DatabaseServer implements OnApplicationShutdown {
  private static readonly embedded: Promise<EmbeddedPostgres>[] = [];

  private constructor(
    readonly url: string,
    private readonly modules: ModuleRef,
  ) {}

  static async start({ DATABASE_URL, DATA_DIR }: Settings, modules: ModuleRef): Promise<DatabaseServer> {
    if (DATABASE_URL) return new DatabaseServer(DATABASE_URL, modules);
    return new DatabaseServer((await DatabaseServer.embed(DATA_DIR)).url, modules);
  }

  /** Starts an embedded server, which {@link DatabaseServer.stopAll} stops. */
  static embed(dataDirectory: string): Promise<EmbeddedPostgres> {
    const starting = startEmbeddedPostgres(join(dataDirectory, 'postgres')).catch(explain);
    DatabaseServer.embedded.push(starting);
    return starting;
  }

  /**
   * Stops the embedded servers of this process, even while they start: before there is an application, nothing else can
   * stop them.
   */
  static async stopAll(): Promise<void> {
    for (const starting of DatabaseServer.embedded.splice(0)) {
      const server = await starting.catch(() => undefined);
      await server?.stop();
    }
  }

  async onApplicationShutdown(): Promise<void> {
    const dataSource = this.modules.get(DataSource, { strict: false });
    if (dataSource.isInitialized) await dataSource.destroy();
    await DatabaseServer.stopAll();
  }
}

/** The messages of the embedded server say what to do; errors of the system name the path. */
function explain(error: Error): never {
  throw new StartupError(`The embedded PostgreSQL can't be started. ${error.message}`, { cause: error });
}
