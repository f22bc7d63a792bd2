import { Injectable } from '@nestjs/common';
import { AuthGuard, PassportStrategy } from '@nestjs/passport';
import { ExtractJwt, Strategy } from 'passport-jwt';

interface Payload {
  sub: string;
  roles: string[];
}

export interface Caller {
  id: number;
  roles: string[];
}

@Injectable()
export class JwtStrategy extends PassportStrategy(Strategy) {
  constructor() {
    super({
      jwtFromRequest: ExtractJwt.fromAuthHeaderAsBearerToken(),
      ignoreExpiration: false,
      secretOrKey: String(process.env.JWT_SECRET),
    });
  }

  validate({ sub, roles }: Payload): Caller {
    return { id: Number(sub), roles };
  }
}

@Injectable()
export class JwtAuthGuard extends AuthGuard('jwt') {}
