import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { accessOf } from './access.decorators';
import { roleMissing } from './auth-errors';
import { type Caller, hasRole } from './caller';

/** May they: 403 unless the caller has one of the route's roles. */
@Injectable()
export class RolesGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const access = accessOf(context);
    if (access?.kind === 'public') return true;
    const caller = context.switchToHttp().getRequest<Request & { user?: Caller }>().user;
    if (access?.roles.some((role) => hasRole(caller, role))) return true;
    throw roleMissing();
  }
}
