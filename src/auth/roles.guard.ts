import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { accessOf, isAllowed } from './access.decorators';
import { roleMissing } from './auth-errors';
import type { Caller } from './caller';

/** May they: 403 unless the caller has one of the route's roles. */
@Injectable()
export class RolesGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { user } = context.switchToHttp().getRequest<Request & { user?: Caller }>();
    if (isAllowed(accessOf(context), user)) return true;
    throw roleMissing();
  }
}
