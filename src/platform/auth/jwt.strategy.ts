import type { KeyObject } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import type { Request } from 'express';
import { decode } from 'jsonwebtoken';
import { type SecretOrKeyProvider, Strategy } from 'passport-jwt';
import { Settings } from '../config/settings';
import { AuthenticationError } from './auth-errors';
import { bearerTokenOf } from './bearer-token';
import type { Caller } from './caller';
import { ExternalIssuer } from './external-issuer';
import { OwnIssuer } from './own-issuer';
import type { TokenIssuer, VerifiedClaims } from './token-issuer';
import { VerifiedTokens } from './verified-tokens';

/** Accepts an access token that a known issuer signed for its audience, and finds the user behind it. */
@Injectable()
export class JwtStrategy extends PassportStrategy(Strategy) {
  private readonly issuers: TokenIssuer[];

  constructor(
    settings: Settings,
    private readonly own: OwnIssuer,
    external: ExternalIssuer,
    private readonly tokens: VerifiedTokens,
  ) {
    const issuers = settings.OIDC_ISSUER ? [own, external] : [own];
    super({
      jwtFromRequest: (request: Request) => bearerTokenOf(request) ?? null,
      passReqToCallback: true,
      secretOrKeyProvider: keyOfToken(issuers),
      algorithms: issuers.flatMap(({ algorithms }) => algorithms),
      issuer: issuers.map(({ issuer }) => issuer),
      audience: issuers.map(({ audience }) => audience),
    });
    this.issuers = issuers;
  }

  async validate(request: Request, claims: VerifiedClaims): Promise<Caller> {
    // The libraries accept a token without these claims, as one that never expires.
    if (!Number.isFinite(claims.exp) || !Number.isFinite(claims.iat)) throw AuthenticationError.invalidToken();
    const issuer = this.issuers.find((one) => one.issuer === claims.iss);
    // passport-jwt has verified that issuer and audience are known. They must also belong together.
    const meant = issuer && [claims.aud].flat().includes(issuer.audience);
    const caller = meant && (await issuer.findCaller(claims, request));
    if (!caller) throw AuthenticationError.invalidToken();
    // Only own tokens are remembered: another issuer may withdraw a key while its tokens live.
    if (issuer === this.own) this.tokens.remember(bearerTokenOf(request)!, claims);
    return caller;
  }
}

function keyOfToken(issuers: TokenIssuer[]): SecretOrKeyProvider<Request> {
  return (_request, token: string, done) => {
    findKey(issuers, token).then(
      // passport-jwt passes the key on to jsonwebtoken, which accepts a KeyObject. The types allow only strings.
      (key) => done(key ? null : AuthenticationError.invalidToken(), key as unknown as string),
      (error: unknown) => done(error),
    );
  };
}

async function findKey(issuers: TokenIssuer[], token: string): Promise<KeyObject | undefined> {
  // Nothing in the token is trusted yet. It only says which key to verify it with.
  const claimed = decode(token, { complete: true });
  if (!claimed || typeof claimed.payload === 'string') return undefined;
  // The service knows no extension, and must refuse a token that calls one critical (RFC 7515, 4.1.11).
  if (claimed.header.crit !== undefined) return undefined;
  const issuer = issuers.find((one) => one.issuer === (claimed.payload as VerifiedClaims).iss);
  if (!issuer?.algorithms.some((algorithm) => algorithm === claimed.header.alg)) return undefined;
  return issuer.findKey(claimed.header);
}
