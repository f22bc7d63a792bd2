import { join } from 'node:path';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { DataSource } from 'typeorm';
import type { Settings } from '../config/settings';
import { startEmbeddedPostgres } from './embedded-postgres';

/** The PostgreSQL server: the one that DATABASE_URL names, or an embedded one that lives as long as the application. */
@Injectable()
export class DatabaseServer implements OnApplicationShutdown {
  private constructor(
    readonly url: string,
    readonly stop: () => Promise<void>,
    private readonly modules: ModuleRef,
  ) {}

  static async start({ DATABASE_URL, DATA_DIR }: Settings, modules: ModuleRef): Promise<DatabaseServer> {
    if (DATABASE_URL) return new DatabaseServer(DATABASE_URL, () => Promise.resolve(), modules);
    const embedded = await startEmbeddedPostgres(join(DATA_DIR, 'postgres'));
    return new DatabaseServer(embedded.url, () => embedded.stop(), modules);
  }

  async onApplicationShutdown(): Promise<void> {
    const dataSource = this.modules.get(DataSource, { strict: false });
    if (dataSource.isInitialized) await dataSource.destroy();
    await this.stop();
  }
}
