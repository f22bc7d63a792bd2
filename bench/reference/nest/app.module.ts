import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { ThrottlerGuard, ThrottlerModule } from '@nestjs/throttler';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule } from './auth/auth.module';
import { Product } from './products/product.entity';
import { ProductsModule } from './products/products.module';
import { PublicModule } from './public/public.module';
import { User } from './users/user.entity';
import { UsersModule } from './users/users.module';

@Module({
  imports: [
    TypeOrmModule.forRoot({
      type: 'postgres',
      url: process.env.DATABASE_URL,
      entities: [User, Product],
      parseInt8: true,
      installExtensions: false,
    }),
    // A limit above any load.
    ThrottlerModule.forRoot([{ ttl: 60_000, limit: 1_000_000_000 }]),
    AuthModule,
    UsersModule,
    ProductsModule,
    PublicModule,
  ],
  providers: [{ provide: APP_GUARD, useClass: ThrottlerGuard }],
})
export class AppModule {}
