import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ConfigModule, DatabaseModule } from '../platform/programs';
import { User } from '../resources/users/user.entity';

/**
 * The parts of the service that seeding needs: settings, the database server and an up-to-date schema. The entity of
 * users is needed because sessions refer to it.
 */
@Module({ imports: [ConfigModule, DatabaseModule, TypeOrmModule.forFeature([User])] })
export class SeedModule {}
