import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { FirstAdministrator } from './first-administrator';
import { NameClaims } from './name-claims';
import { UserEvents } from './user-events';
import { User } from './user.entity';
import { UsersController } from './users.controller';
import { UsersService } from './users.service';

@Module({
  imports: [TypeOrmModule.forFeature([User])],
  controllers: [UsersController],
  providers: [UsersService, UserEvents, NameClaims, FirstAdministrator],
  exports: [UsersService],
})
export class UsersModule {}
