import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { declareSettings } from '../../platform';
import { FirstAdministrator } from './first-administrator';
import { NameClaims } from './name-claims';
import { UserEvents } from './user-events';
import { userContradictions, UserSettings } from './user-settings';
import { User } from './user.entity';
import { UsersController } from './users.controller';
import { UsersService } from './users.service';

@Module({
  imports: [TypeOrmModule.forFeature([User])],
  controllers: [UsersController],
  providers: [
    declareSettings(UserSettings, { contradictions: userContradictions }),
    UsersService,
    UserEvents,
    NameClaims,
    FirstAdministrator,
  ],
  exports: [UsersService, UserSettings],
})
export class UsersModule {}
