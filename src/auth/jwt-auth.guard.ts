import { type ExecutionContext, HttpException, Injectable } from '@nestjs/common';
import { AuthGuard } from '@nestjs/passport';
import type { Request } from 'express';
import { accessOf } from './access.decorators';
import { AuthenticationError } from './auth-errors';
import { isRepeated } from './bearer-token';
import type { Caller } from './caller';
import { requestOf } from './request-of';
import { Sessions } from './sessions';
import type { VerifiedClaims } from './token-issuer';
import { VerifiedTokens } from './verified-tokens';

const SCHEME = 'Bearer ';

/** Who asks: 401 unless the token is good, or the route needs none. */
@Injectable()
export class JwtAuthGuard extends AuthGuard('jwt') {
  constructor(
    private readonly tokens: VerifiedTokens,
    private readonly sessions: Sessions,
  ) {
    super();
  }

  override canActivate(
    context: ExecutionContext,
  ): ReturnType<InstanceType<ReturnType<typeof AuthGuard>>['canActivate']> {
    const access = accessOf(context);
    const request = requestOf(context);
    const authorization = request?.headers.authorization;
    if (access?.kind === 'public' && !(access.identifies && authorization !== undefined)) return true;
    if (!request) throw AuthenticationError.noToken();
    const known = authorization?.startsWith(SCHEME) && this.tokens.find(authorization.slice(SCHEME.length));
    return known && !isRepeated(request) ? this.findCaller(request, known) : super.canActivate(context);
  }

  override handleRequest<Caller>(
    error: unknown,
    caller: Caller | false,
    info: unknown,
    context: ExecutionContext,
  ): Caller {
    if (error) throw error as Error;
    if (caller) return caller;
    // What went wrong while the key was looked for; passport-jwt takes it for a bad token.
    if (info instanceof HttpException) throw info;
    const sentToken = requestOf(context)?.headers.authorization !== undefined;
    throw sentToken ? AuthenticationError.invalidToken() : AuthenticationError.noToken();
  }

  override getRequest(context: ExecutionContext): Request | undefined {
    return requestOf(context);
  }

  /** Fast path: the token was verified earlier, its user too, so only its session is asked for. */
  private async findCaller(request: Request & { user?: Caller }, { sid }: VerifiedClaims): Promise<true> {
    request.user = await this.sessions.findCaller(sid as string);
    if (!request.user) throw AuthenticationError.invalidToken();
    return true;
  }
}
