import { Module } from '@nestjs/common';
import { ConfigModule, DatabaseModule } from '../platform';

/** What seeding shares with the service: its settings, its database server and an up-to-date schema. */
@Module({ imports: [ConfigModule, DatabaseModule] })
export class SeedModule {}
