import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ConfigModule, DatabaseModule } from '../platform';
import { User } from '../resources/users/user.entity';

/** What seeding shares with the service: its settings, its database server and an up-to-date schema. Sessions refer to users. */
@Module({ imports: [ConfigModule, DatabaseModule, TypeOrmModule.forFeature([User])] })
export class SeedModule {}
