import { Global, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { JwtModule } from '@nestjs/jwt';
import { PassportModule } from '@nestjs/passport';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Callers } from './callers';
import { DeclaredAccess } from './declared-access';
import { ExternalIssuer } from './external-issuer';
import { ExternalUsers } from './external-users';
import { JwtStrategy } from './jwt.strategy';
import { LocalPasswords } from './local-passwords';
import { OwnIssuer } from './own-issuer';
import { RefreshToken, Session } from './session.entity';
import { AuditTrail } from './audit-trail';
import { SecurityEvents } from './security-events';
import { Sessions } from './sessions';
import { SigningKeys } from './signing-keys';
import { VerifiedTokens } from './verified-tokens';

/**
 * Authentication. The guards are declared in PipelineModule, where their place among the steps of a request is seen.
 */
@Global()
@Module({
  imports: [DiscoveryModule, PassportModule, JwtModule.register({}), TypeOrmModule.forFeature([Session, RefreshToken])],
  providers: [
    SigningKeys,
    Sessions,
    Callers,
    LocalPasswords,
    OwnIssuer,
    ExternalIssuer,
    ExternalUsers,
    JwtStrategy,
    VerifiedTokens,
    DeclaredAccess,
    AuditTrail,
    SecurityEvents,
  ],
  exports: [SigningKeys, Sessions, Callers, LocalPasswords, VerifiedTokens, DeclaredAccess, SecurityEvents],
})
export class AuthModule {}
