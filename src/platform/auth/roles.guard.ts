import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { accessOf, isAllowed } from './access.decorators';
import { roleMissing } from './auth-errors';
import { requestOf } from './request-of';

/** Checks roles: 403 unless the caller has one of the route's roles. */
@Injectable()
export class RolesGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    if (isAllowed(accessOf(context), requestOf(context)?.user)) return true;
    throw roleMissing();
  }
}
