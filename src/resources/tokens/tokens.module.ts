import { Module } from '@nestjs/common';
import { UsersModule } from '../users/users.module';
import { TokensController } from './tokens.controller';
import { TokensService } from './tokens.service';

@Module({ imports: [UsersModule], controllers: [TokensController], providers: [TokensService] })
export class TokensModule {}
