import { Global, Module } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Settings } from '../config/settings';
import { dataSourceOptions } from './data-source';
import { DatabaseServer } from './database-server';
import { migrate } from './migrate';
import { ApiDataSource } from './api-data-source';

const server = {
  provide: DatabaseServer,
  inject: [Settings, ModuleRef],
  useFactory: (settings: Settings, modules: ModuleRef) => DatabaseServer.start(settings, modules),
};

@Global()
@Module({ providers: [server], exports: [DatabaseServer] })
class DatabaseServerModule {}

/** The database: a server, an up-to-date schema, and TypeORM. */
@Module({
  imports: [
    DatabaseServerModule,
    TypeOrmModule.forRootAsync({
      inject: [Settings, DatabaseServer],
      useFactory: async (settings: Settings, { url }: DatabaseServer) => {
        const options = dataSourceOptions(settings, url);
        await migrate(options, settings.EXPORT_TIMEOUT);
        // The migration has just connected, so connecting isn't retried.
        return { ...options, autoLoadEntities: true, toRetry: () => false };
      },
      dataSourceFactory: (options) => Promise.resolve(new ApiDataSource(options!)),
    }),
  ],
})
export class DatabaseModule {}
