import { Module } from '@nestjs/common';
import { AuthModule } from './auth/auth.module';
import { ConfigModule } from './config/config.module';
import { ConventionsModule } from './conventions/conventions.module';
import { DatabaseModule } from './database/database.module';
import { DemoModule } from './demo/demo.module';
import { OperationsModule } from './operations/operations.module';
import { KeysModule } from './resources/keys/keys.module';
import { PublicModule } from './resources/public/public.module';
import { TokensModule } from './resources/tokens/tokens.module';
import { UsersModule } from './resources/users/users.module';

const platform = [ConfigModule, DatabaseModule, AuthModule, ConventionsModule, OperationsModule];

@Module({
  imports: [...platform, KeysModule, PublicModule, TokensModule, UsersModule, DemoModule],
})
export class AppModule {}
