import { Module } from '@nestjs/common';
import { UsersModule } from '../users/users.module';
import { SignInLimits } from './sign-in-limits';
import { TokensController } from './tokens.controller';
import { TokensService } from './tokens.service';

@Module({ imports: [UsersModule], controllers: [TokensController], providers: [TokensService, SignInLimits] })
export class TokensModule {}
