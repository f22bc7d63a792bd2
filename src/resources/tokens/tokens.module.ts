import { Module } from '@nestjs/common';
import { declareSettings } from '../../platform';
import { UsersModule } from '../users/users.module';
import { SignInLimits } from './sign-in-limits';
import { SignInSettings } from './sign-in-settings';
import { TokensController } from './tokens.controller';
import { TokensService } from './tokens.service';

@Module({
  imports: [UsersModule],
  controllers: [TokensController],
  providers: [declareSettings(SignInSettings), TokensService, SignInLimits],
})
export class TokensModule {}
