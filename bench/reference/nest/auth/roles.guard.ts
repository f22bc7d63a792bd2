import { type CanActivate, type ExecutionContext, Injectable, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import type { Caller } from './jwt.strategy';

export const Roles = (...roles: string[]) => SetMetadata('roles', roles);

@Injectable()
export class RolesGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const needed = this.reflector.getAllAndOverride<string[]>('roles', [context.getHandler(), context.getClass()]);
    const { user } = context.switchToHttp().getRequest<Request & { user: Caller }>();
    return needed.some((role) => user.roles.includes(role));
  }
}
