import { type ExecutionContext, HttpException, Inject, Injectable, Optional } from '@nestjs/common';
import { AuthGuard } from '@nestjs/passport';
import { InjectDataSource } from '@nestjs/typeorm';
import type { Request } from 'express';
import { DataSource } from 'typeorm';
import { type Access, accessOf } from './access.decorators';
import { AuthenticationError } from './auth-errors';
import { isRepeated } from './bearer-token';
import type { Caller } from './caller';
import { Callers } from './callers';
import { prefetch } from './prefetch';
import { requestOf } from './request-of';
import { Sessions } from './sessions';
import { askStrategies, DEFAULT_STRATEGIES, TOKENS } from './strategies';
import type { VerifiedClaims } from './token-issuer';
import { VerifiedTokens } from './verified-tokens';

const SCHEME = 'Bearer ';

/** Identifies the caller: 401 unless the token is good or the route needs none. */
@Injectable()
export class JwtAuthGuard extends AuthGuard(TOKENS) {
  constructor(
    private readonly tokens: VerifiedTokens,
    private readonly sessions: Sessions,
    private readonly callers: Callers,
    @InjectDataSource() private readonly database: DataSource,
    @Optional() @Inject(DEFAULT_STRATEGIES) private readonly everywhere?: string[],
  ) {
    super();
  }

  override canActivate(
    context: ExecutionContext,
  ): ReturnType<InstanceType<ReturnType<typeof AuthGuard>>['canActivate']> {
    const access = accessOf(context);
    const request = requestOf(context);
    const authorization = request?.headers.authorization;
    const strategies = access?.strategies ?? this.everywhere;
    if (strategies) return this.ask(strategies, access, context);
    if (access?.kind === 'public' && !(access.identifies && authorization !== undefined)) return true;
    if (!request) throw AuthenticationError.noToken();
    const known = authorization?.startsWith(SCHEME) && this.tokens.find(authorization.slice(SCHEME.length));
    return known && !isRepeated(request) ? this.findCaller(request, known, context) : super.canActivate(context);
  }

  override handleRequest<Caller>(
    error: unknown,
    caller: Caller | false,
    info: unknown,
    context: ExecutionContext,
  ): Caller {
    if (error) throw error as Error;
    if (caller) return caller;
    // An error that occurred while the key was fetched. passport-jwt reports it like a bad token.
    if (info instanceof HttpException) throw info;
    const sentToken = requestOf(context)?.headers.authorization !== undefined;
    throw sentToken ? AuthenticationError.invalidToken() : AuthenticationError.noToken();
  }

  override getRequest(context: ExecutionContext): Request | undefined {
    return requestOf(context);
  }

  /**
   * Identifies the caller of a route that has other strategies than tokens. A team wrote them, so their results are
   * checked.
   */
  private async ask(strategies: string[], access: Access | undefined, context: ExecutionContext): Promise<true> {
    if (access?.kind === 'public' && !access.identifies) return true;
    const request = requestOf(context);
    if (!request) throw AuthenticationError.noToken();
    const caller = await askStrategies(strategies, context);
    if (!caller && access?.kind !== 'public') throw AuthenticationError.noToken();
    await this.callers.confirm(caller);
    request.user = caller;
    return true;
  }

  /** Fast path: the signature was verified earlier, so only the session is checked. */
  private async findCaller(
    request: Request & { user?: Caller },
    { sid }: VerifiedClaims,
    context: ExecutionContext,
  ): Promise<true> {
    prefetch(request, context, this.database);
    request.user = await this.sessions.findCaller(sid as string);
    if (!request.user) throw AuthenticationError.invalidToken();
    return true;
  }
}
