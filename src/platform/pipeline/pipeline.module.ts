import { Global, Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_PIPE, DiscoveryModule } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { JwtAuthGuard } from '../auth/jwt-auth.guard';
import { RolesGuard } from '../auth/roles.guard';
import { ErrorFilter } from './error.filter';
import { GatewayErrors } from './gateway-errors';
import { IdempotencyKey } from '../idempotency/idempotency-key.entity';
import { IdempotencyKeys } from '../idempotency/idempotency-keys';
import { CursorSeal } from '../lists/cursor';
import { Searches } from '../lists/searches';
import { AcceptGuard } from './accept.guard';
import { DeclaredInput } from './declared-input';
import { DeclaredVersions } from '../routing/declared-versions';
import { InputGuard } from './input.guard';
import './parameter-pipes';
import { RateLimits } from '../limits/rate-limits';
import { ValidationPipe } from '../input/validation.pipe';
import { adaptCaches } from '../answers/cached';
import { Handlers } from './handlers';
import { adaptSerializer } from '../answers/serialized';

/**
 * The life of a request, in the order in which it happens. Before it, `platform/process/configure-app.ts` gives it an id, a log line and a
 * time limit; after it, `ApiAdapter.reply` writes the envelope.
 */
@Global()
@Module({
  imports: [DiscoveryModule, TypeOrmModule.forFeature([IdempotencyKey])],
  providers: [
    { provide: APP_GUARD, useExisting: AcceptGuard }, //    can it be answered: 406
    { provide: APP_GUARD, useExisting: JwtAuthGuard }, //   who asks: 401
    { provide: APP_GUARD, useExisting: RolesGuard }, //     may they: 403
    { provide: APP_GUARD, useExisting: InputGuard }, //     query and body are read: 400, 413, 415
    { provide: APP_PIPE, useExisting: ValidationPipe }, //  and validated: 400
    // where the handler is called: a POST with a key that came before is answered as it was then: 409, 422; see Idempotent
    // controller -> service -> TypeORM -> DTO
    { provide: APP_FILTER, useExisting: ErrorFilter }, //   from anywhere: throw -> toApiError() -> error envelope
    // By these a test may override them: overrideProvider(JwtAuthGuard)
    ...[AcceptGuard, JwtAuthGuard, RolesGuard, InputGuard, ValidationPipe, ErrorFilter],
    GatewayErrors,
    CursorSeal,
    DeclaredVersions,
    Handlers,
    DeclaredInput,
    IdempotencyKeys,
    RateLimits,
    Searches,
  ],
  exports: [IdempotencyKeys, RateLimits],
})
export class PipelineModule {
  constructor() {
    adaptSerializer();
    adaptCaches();
  }
}
