import { join } from 'node:path';
import { type MiddlewareConsumer, Module, type NestModule } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { declareSettings, Settings } from '../platform';
import { DatabaseServer } from '../platform/features';
import { ByteStore } from './bytes/byte-store';
import { DiskStore } from './bytes/disk-store';
import { makePrivate } from './bytes/private-directory';
import { LinkSeal } from './links/link-seal';
import { UploadLinksController } from './links/upload-links.controller';
import { UploadLinksService } from './links/upload-links.service';
import { TusEndpoint } from './tus/tus-endpoint';
import { TusOptionsController } from './tus/tus-options.controller';
import { tusMiddleware } from './tus/tus.middleware';
import { Upload } from './upload.entity';
import { UploadContent } from './upload-content';
import { UploadContentController } from './upload-content.controller';
import { LeasedLocks } from './locks/leased-locks';
import { LockKeeper } from './locks/lock-keeper';
import { SessionLocks } from './locks/session-locks';
import { UploadLocks } from './locks/upload-locks';
import { UploadRows } from './upload-rows';
import { bucketContradictions, UploadSettings } from './upload-settings';
import { SweepTimes, UploadSweep } from './upload-sweep';
import { UploadsController } from './uploads.controller';
import { UploadsService } from './uploads.service';

/**
 * Loads the SDK of S3 on demand, because it takes time and memory.
 * eslint-disable-next-line @typescript-eslint/no-require-imports
 */
function bucketStore(settings: UploadSettings, directory: string): ByteStore {
  // eslint-disable-next-line @typescript-eslint/no-require-imports
  const { S3ByteStore } = require('./bytes/s3-byte-store') as typeof import('./bytes/s3-byte-store');
  return new S3ByteStore(settings, directory);
}

const byteStore = {
  provide: ByteStore,
  inject: [Settings, UploadSettings],
  useFactory: ({ DATA_DIR }: Settings, settings: UploadSettings) => {
    const directory = join(DATA_DIR, 'uploads');
    makePrivate(directory);
    return settings.S3_BUCKET ? bucketStore(settings, directory) : new DiskStore(directory, settings.MIN_FREE_DISK);
  },
};

/** Behind a pooler no session belongs to one process. */
const lockKeeper = {
  provide: LockKeeper,
  inject: [Settings, DatabaseServer, DataSource],
  useFactory: ({ DATABASE_POOLER }: Settings, { url }: DatabaseServer, database: DataSource) =>
    DATABASE_POOLER === 'transaction' ? new LeasedLocks(database) : new SessionLocks(url),
};

@Module({
  imports: [TypeOrmModule.forFeature([Upload])],
  controllers: [UploadsController, UploadContentController, UploadLinksController, TusOptionsController],
  providers: [
    declareSettings(UploadSettings, { contradictions: bucketContradictions }),
    byteStore,
    LinkSeal,
    TusEndpoint,
    UploadContent,
    UploadLinksService,
    lockKeeper,
    UploadLocks,
    UploadRows,
    SweepTimes,
    UploadSweep,
    UploadsService,
  ],
})
export class UploadsModule implements NestModule {
  configure(consumer: MiddlewareConsumer): void {
    consumer.apply(tusMiddleware).forRoutes('uploads');
  }
}
