import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import type { Request } from 'express';
import { ExtractJwt, type SecretOrKeyProvider, Strategy } from 'passport-jwt';
import { Settings } from '../config/settings';
import { AuthenticationError } from './auth-errors';
import type { Caller } from './caller';
import { Sessions } from './sessions';
import { SigningKeys } from './signing-keys';

interface AccessTokenClaims {
  sid: string;
}

/** Believes an access token that our own key signed, for our issuer and audience, as long as its session lives. */
@Injectable()
export class JwtStrategy extends PassportStrategy(Strategy) {
  constructor(
    keys: SigningKeys,
    settings: Settings,
    private readonly sessions: Sessions,
  ) {
    super({
      jwtFromRequest: ExtractJwt.fromAuthHeaderAsBearerToken(),
      secretOrKeyProvider: keyOfToken(keys),
      algorithms: [keys.algorithm],
      issuer: settings.JWT_ISSUER,
      audience: settings.JWT_AUDIENCE,
    });
  }

  async validate({ sid }: AccessTokenClaims): Promise<Caller> {
    const caller = await this.sessions.findCaller(sid);
    if (!caller) throw AuthenticationError.invalidToken();
    return caller;
  }
}

function keyOfToken(keys: SigningKeys): SecretOrKeyProvider<Request> {
  // passport-jwt hands the key on to jsonwebtoken, which takes a KeyObject; the types know of strings only.
  return (_request, token: string, done) => {
    const key = keys.find(kidOf(token));
    done(key ? null : AuthenticationError.invalidToken(), key as unknown as string);
  };
}

function kidOf(token: string): string | undefined {
  try {
    const header: unknown = JSON.parse(Buffer.from(token.split('.', 1)[0], 'base64url').toString());
    const kid = (header as { kid?: unknown } | null)?.kid;
    return typeof kid === 'string' ? kid : undefined;
  } catch {
    return undefined;
  }
}
