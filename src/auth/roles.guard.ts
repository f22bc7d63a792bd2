import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { type Access, ACCESS } from './access.decorators';
import { roleMissing } from './auth-errors';
import { type Caller, hasRole } from './caller';

/** May they: 403 unless the caller has one of the route's roles. */
@Injectable()
export class RolesGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const access = this.reflector.getAllAndOverride<Access | undefined>(ACCESS, [
      context.getHandler(),
      context.getClass(),
    ]);
    if (access?.kind === 'public') return true;
    const caller = context.switchToHttp().getRequest<Request & { user?: Caller }>().user;
    if (access?.roles.some((role) => hasRole(caller, role))) return true;
    throw roleMissing();
  }
}
