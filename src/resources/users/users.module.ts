import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { declareSettings } from '../../platform';
import { UserDirectory } from '../../platform/accounts';
import { FirstAdministrator } from './first-administrator';
import { LocalUsers } from './local-users';
import { NameClaims } from './name-claims';
import { UserEvents } from './user-events';
import { userContradictions, UserSettings } from './user-settings';
import { User } from './user.entity';
import { UsersController } from './users.controller';
import { UsersService } from './users.service';

/** Global, as the platform asks for it. */
@Global()
@Module({ providers: [{ provide: UserDirectory, useClass: LocalUsers }], exports: [UserDirectory] })
class UserDirectoryModule {}

@Module({
  imports: [UserDirectoryModule, TypeOrmModule.forFeature([User])],
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
