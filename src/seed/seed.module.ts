import { Module } from '@nestjs/common';
import { ConfigModule } from '../config/config.module';
import { DatabaseModule } from '../database/database.module';

/** What seeding shares with the service: its settings, its database server and an up-to-date schema. */
@Module({ imports: [ConfigModule, DatabaseModule] })
export class SeedModule {}
