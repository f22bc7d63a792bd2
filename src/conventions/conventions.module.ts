import { Global, Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_PIPE, DiscoveryModule } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { JwtAuthGuard } from '../auth/jwt-auth.guard';
import { RolesGuard } from '../auth/roles.guard';
import { ErrorFilter } from './errors/error.filter';
import { GatewayErrors } from './errors/gateway-errors';
import { IdempotencyKey } from './idempotency/idempotency-key.entity';
import { IdempotencyKeys } from './idempotency/idempotency-keys';
import { CursorSeal } from './lists/cursor';
import { Searches } from './lists/searches';
import { AcceptGuard } from './requests/accept.guard';
import { InputGuard } from './requests/input.guard';
import { RateLimits } from './requests/rate-limits';
import { ValidationPipe } from './requests/validation.pipe';

/**
 * The life of a request, in the order in which it happens. Before it, `configure-app.ts` gives it an id, a log line and a
 * time limit; after it, `ApiAdapter.reply` writes the envelope.
 */
@Global()
@Module({
  imports: [DiscoveryModule, TypeOrmModule.forFeature([IdempotencyKey])],
  providers: [
    { provide: APP_GUARD, useClass: AcceptGuard }, //    can it be answered: 406
    { provide: APP_GUARD, useClass: JwtAuthGuard }, //   who asks: 401
    { provide: APP_GUARD, useClass: RolesGuard }, //     may they: 403
    { provide: APP_GUARD, useClass: InputGuard }, //     query and body are read: 400, 413, 415
    { provide: APP_PIPE, useClass: ValidationPipe }, //  and validated: 400
    // where the handler is called: a POST with a key that came before is answered as it was then: 409, 422; see Idempotent
    // controller -> service -> TypeORM -> DTO
    { provide: APP_FILTER, useClass: ErrorFilter }, //   from anywhere: throw -> toApiError() -> error envelope
    GatewayErrors,
    CursorSeal,
    IdempotencyKeys,
    RateLimits,
    Searches,
  ],
  exports: [IdempotencyKeys, RateLimits],
})
export class ConventionsModule {}
