import { type ExecutionContext, HttpException, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { AuthGuard } from '@nestjs/passport';
import type { Request } from 'express';
import { type Access, ACCESS } from './access.decorators';
import { AuthenticationError } from './auth-errors';

/** Who asks: 401 unless the token is good, or the route needs none. */
@Injectable()
export class JwtAuthGuard extends AuthGuard('jwt') {
  constructor(private readonly reflector: Reflector) {
    super();
  }

  override canActivate(
    context: ExecutionContext,
  ): ReturnType<InstanceType<ReturnType<typeof AuthGuard>>['canActivate']> {
    const access = this.reflector.getAllAndOverride<Access | undefined>(ACCESS, [
      context.getHandler(),
      context.getClass(),
    ]);
    const sentToken = context.switchToHttp().getRequest<Request>().headers.authorization !== undefined;
    if (access?.kind === 'public' && !(access.identifies && sentToken)) return true;
    return super.canActivate(context);
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
    const sentToken = context.switchToHttp().getRequest<Request>().headers.authorization !== undefined;
    throw sentToken ? AuthenticationError.invalidToken() : AuthenticationError.noToken();
  }
}
