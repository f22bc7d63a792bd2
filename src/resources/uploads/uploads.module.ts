import { join } from 'node:path';
import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Settings } from '../../config/settings';
import { ByteStore } from './byte-store';
import { DiskStore } from './disk-store';
import { TusEndpoint } from './tus-endpoint';
import { Upload } from './upload.entity';
import { UploadContent } from './upload-content';
import { UploadLocks } from './upload-locks';
import { UploadRows } from './upload-rows';
import { UploadSweep } from './upload-sweep';
import { UploadsController } from './uploads.controller';
import { UploadsService } from './uploads.service';

const byteStore = {
  provide: ByteStore,
  inject: [Settings],
  useFactory: ({ DATA_DIR, MIN_FREE_DISK }: Settings) => new DiskStore(join(DATA_DIR, 'uploads'), MIN_FREE_DISK),
};

@Module({
  imports: [TypeOrmModule.forFeature([Upload])],
  controllers: [UploadsController],
  providers: [byteStore, TusEndpoint, UploadContent, UploadLocks, UploadRows, UploadSweep, UploadsService],
})
export class UploadsModule {}
