import { createParamDecorator, type CustomDecorator, type ExecutionContext, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { type Caller, hasRole, type Role } from './caller';
import { PerRoute } from './per-route';
import { kindOf, requestOf } from './request-of';

const reflector = new Reflector();

export const ACCESS = 'resource-api:access';

/** Who may call a route. */
export type Access =
  | { kind: 'public'; identifies: boolean }
  | {
      kind: 'roles';
      /** Any one of them is enough. */
      roles: Role[];
    };

export interface PublicOptions {
  /** Look at a token that is sent all the same, and refuse a bad one. Default: true */
  identifies?: boolean;
}

/** Anyone may call it, without a token. */
export const Public = ({ identifies = true }: PublicOptions = {}): CustomDecorator =>
  SetMetadata<string, Access>(ACCESS, { kind: 'public', identifies });

/** Needs a token of a user who has one of these roles. */
export const Roles = (...roles: Role[]): CustomDecorator =>
  SetMetadata<string, Access>(ACCESS, { kind: 'roles', roles });

const accesses = new PerRoute<Access | undefined>((handler, controller) =>
  reflector.getAllAndOverride(ACCESS, [handler, controller]),
);

/** Who may call the route of a request. */
export function accessOf(context: ExecutionContext): Access | undefined {
  return accesses.of(context);
}

/** Whether a route is for a caller. */
export function isAllowed(access: Access | undefined, caller: Caller | undefined): boolean {
  return access?.kind === 'public' || Boolean(access?.roles.some((role) => hasRole(caller, role)));
}

/** The caller; undefined only on a {@link Public} route that was called without a token. */
export const CurrentUser = createParamDecorator((_data: unknown, context: ExecutionContext): Caller | undefined => {
  const caller = requestOf(context)?.user;
  // A handshake is that of many messages, of which another may have looked at its token.
  if (!caller || kindOf(context) === 'http') return caller;
  const access = accessOf(context);
  return access?.kind === 'public' && !access.identifies ? undefined : caller;
});
