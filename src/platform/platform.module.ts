import { Module } from '@nestjs/common';
import { AuthModule } from './auth/auth.module';
import { ChangesModule } from './changes/changes.module';
import { ConfigModule } from './config/config.module';
import { DatabaseModule } from './database/database.module';
import { PipelineModule } from './pipeline/pipeline.module';
import { ProcessModule } from './process/process.module';

/** All modules of the platform. */
@Module({ imports: [ConfigModule, DatabaseModule, AuthModule, ChangesModule, PipelineModule, ProcessModule] })
export class PlatformModule {}
