import { Global, Module, type Type } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_PIPE, DiscoveryModule } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { JwtAuthGuard } from '../auth/jwt-auth.guard';
import { RolesGuard } from '../auth/roles.guard';
import { ErrorFilter } from './error.filter';
import { GatewayErrors } from './gateway-errors';
import { IdempotencyKey } from '../idempotency/idempotency-key.entity';
import { IdempotencyKeys } from '../idempotency/idempotency-keys';
import { CursorSeal } from '../lists/cursor';
import { ExportPlaces } from '../lists/export-places';
import { Searches } from '../lists/searches';
import { CallerRights } from './caller-rights';
import { AcceptGuard } from './accept.guard';
import { DeclaredInput } from './declared-input';
import { DeclaredVersions } from '../routing/declared-versions';
import { InputGuard } from './input.guard';
import './handler-streams';
import './parameter-pipes';
import { RateLimits } from '../limits/rate-limits';
import { ValidationPipe } from '../input/validation.pipe';
import { adaptCaches } from '../answers/adapt-caches';
import { HandlerChecks } from './handler-checks';
import { WriteQuota } from './write-quota';
import { adaptSerializer } from '../answers/adapt-serializer';

/** The guards of all routes that are the service's own, in their order. */
export const OWN_GUARDS: Type[] = [AcceptGuard, JwtAuthGuard, RolesGuard, InputGuard];

/**
 * The steps of a request, in their order. Before them, `platform/process/configure-app.ts` adds the request id, the log
 * line and the time limit. After them, `ApiAdapter.reply` sends the envelope.
 */
@Global()
@Module({
  imports: [DiscoveryModule, TypeOrmModule.forFeature([IdempotencyKey])],
  providers: [
    { provide: APP_GUARD, useExisting: AcceptGuard }, //    Accept: 406
    { provide: APP_GUARD, useExisting: JwtAuthGuard }, //   authentication: 401
    { provide: APP_GUARD, useExisting: RolesGuard }, //     roles: 403
    { provide: APP_GUARD, useExisting: InputGuard }, //     reads query and body: 400, 413, 415
    { provide: APP_PIPE, useExisting: ValidationPipe }, //  validates them: 400
    // Then the handler is called. A repeated POST with a key gets its first answer: 409, 422; see Idempotent
    // controller -> service -> TypeORM -> DTO
    { provide: APP_FILTER, useExisting: ErrorFilter }, //   any error -> toApiError() -> error envelope
    // Provided by class as well, so that a test can override them: overrideProvider(JwtAuthGuard)
    ...[...OWN_GUARDS, ValidationPipe, ErrorFilter],
    CallerRights,
    GatewayErrors,
    CursorSeal,
    DeclaredVersions,
    HandlerChecks,
    DeclaredInput,
    ExportPlaces,
    IdempotencyKeys,
    RateLimits,
    Searches,
    WriteQuota,
  ],
  exports: [IdempotencyKeys, RateLimits],
})
export class PipelineModule {
  constructor() {
    adaptSerializer();
    adaptCaches();
  }
}
