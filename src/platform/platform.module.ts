import { Module } from '@nestjs/common';
import { AuthModule } from './auth/auth.module';
import { ConfigModule } from './config/config.module';
import { DatabaseModule } from './database/database.module';
import { PipelineModule } from './pipeline/pipeline.module';
import { ProcessModule } from './process/process.module';

/** Everything that every resource gets without asking. */
@Module({ imports: [ConfigModule, DatabaseModule, AuthModule, PipelineModule, ProcessModule] })
export class PlatformModule {}
