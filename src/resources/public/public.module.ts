import { Module } from '@nestjs/common';
import { ThrottlerModule } from '@nestjs/throttler';
import { Settings } from '../../config/settings';
import { RateLimits } from '../../conventions/requests/rate-limits';
import { CountingStorage } from './counting.storage';
import { PublicController } from './public.controller';

const MILLISECOND = 1_000;

@Module({
  imports: [
    ThrottlerModule.forRootAsync({
      inject: [Settings, RateLimits],
      useFactory: ({ PUBLIC_RATE_LIMIT: limit, PUBLIC_RATE_WINDOW: window }: Settings, limits: RateLimits) => ({
        throttlers: [{ limit, ttl: window * MILLISECOND }],
        storage: new CountingStorage(limits.counter('public', limit, window)),
      }),
    }),
  ],
  controllers: [PublicController],
})
export class PublicModule {}
