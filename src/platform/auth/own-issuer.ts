import type { KeyObject } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Algorithm, JwtHeader } from 'jsonwebtoken';
import { Settings } from '../config/settings';
import type { Caller } from './caller';
import { Sessions } from './sessions';
import { SigningKeys } from './signing-keys';
import type { TokenIssuer, VerifiedClaims } from './token-issuer';

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

/** Issues this service's own tokens. They are valid as long as their session lives. */
@Injectable()
export class OwnIssuer implements TokenIssuer {
  readonly issuer: string;
  readonly audience: string;
  readonly algorithms: Algorithm[];

  constructor(
    settings: Settings,
    private readonly keys: SigningKeys,
    private readonly sessions: Sessions,
  ) {
    this.issuer = settings.JWT_ISSUER;
    this.audience = settings.JWT_AUDIENCE;
    this.algorithms = [keys.algorithm];
  }

  findKey({ kid }: JwtHeader): Promise<KeyObject | undefined> {
    return Promise.resolve(this.keys.find(kid));
  }

  /** Returns the user of the session, if `sub` names the same user. */
  async findCaller({ sid, sub }: VerifiedClaims): Promise<Caller | undefined> {
    const caller = typeof sid === 'string' && UUID.test(sid) ? await this.sessions.findCaller(sid) : undefined;
    return caller && sub === String(caller.id) ? caller : undefined;
  }
}
