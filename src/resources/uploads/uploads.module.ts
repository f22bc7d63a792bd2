import { join } from 'node:path';
import { type MiddlewareConsumer, Module, type NestModule } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Settings } from '../../config/settings';
import { ByteStore } from './byte-store';
import { DiskStore } from './disk-store';
import { makePrivate } from './private-directory';
import { TusEndpoint } from './tus-endpoint';
import { speakTus } from './tus-requests';
import { Upload } from './upload.entity';
import { UploadContent } from './upload-content';
import { UploadLocks } from './upload-locks';
import { UploadRows } from './upload-rows';
import { SweepTimes, UploadSweep } from './upload-sweep';
import { UploadsController } from './uploads.controller';
import { UploadsService } from './uploads.service';

/** The SDK of S3 takes its time to load, and its memory: only who has a bucket pays for it. */
function bucketStore(settings: Settings, directory: string): ByteStore {
  // eslint-disable-next-line @typescript-eslint/no-require-imports
  const { S3ByteStore } = require('./s3-byte-store') as typeof import('./s3-byte-store');
  return new S3ByteStore(settings, directory);
}

const byteStore = {
  provide: ByteStore,
  inject: [Settings],
  useFactory: (settings: Settings) => {
    const directory = join(settings.DATA_DIR, 'uploads');
    makePrivate(directory);
    return settings.S3_BUCKET ? bucketStore(settings, directory) : new DiskStore(directory, settings.MIN_FREE_DISK);
  },
};

@Module({
  imports: [TypeOrmModule.forFeature([Upload])],
  controllers: [UploadsController],
  providers: [byteStore, TusEndpoint, UploadContent, UploadLocks, UploadRows, SweepTimes, UploadSweep, UploadsService],
})
export class UploadsModule implements NestModule {
  configure(consumer: MiddlewareConsumer): void {
    consumer.apply(speakTus).forRoutes('uploads');
  }
}
