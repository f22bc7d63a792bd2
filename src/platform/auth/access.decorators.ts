import {
  createParamDecorator,
  type CustomDecorator,
  type ExecutionContext,
  SetMetadata,
  type Type,
} from '@nestjs/common';
import { PATH_METADATA } from '@nestjs/common/constants';
import { Reflector } from '@nestjs/core';
import { StartupError } from '../config/startup-error';
import { type Caller, hasRole, type Role } from './caller';
import { PerRoute } from './per-route';
import { kindOf, requestOf } from './request-of';
import { STRATEGIES } from './strategies';

const reflector = new Reflector();

export const ACCESS = 'resource-api:access';

/** Who may call a route. */
export type Access = (
  | { kind: 'public'; identifies: boolean }
  | {
      kind: 'roles';
      /** Any one of them is enough. */
      roles: Role[];
    }
) & {
  /** Who finds out who calls; access tokens alone when left out. */
  strategies?: string[];
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

/**
 * Declares access for a controller of a library, which can't be decorated: in the module that imports it, before the start.
 * @param access e.g. `Public({ identifies: false })` or `Roles(Role.ADMIN)`
 * @param handlers only these; the whole controller when left out
 * @example declareAccess(PrometheusController, Roles(Role.ADMIN));
 */
export function declareAccess<C extends object>(
  controller: Type<C>,
  access: CustomDecorator,
  ...handlers: (keyof C & string)[]
): void {
  if (Reflect.getMetadata(PATH_METADATA, controller) === undefined) {
    throw new StartupError(`declareAccess() is for classes with @Controller(), which ${controller.name} isn't`);
  }
  if (handlers.length === 0) return void access(controller);
  for (const name of handlers) {
    const handler = Object.getOwnPropertyDescriptor(controller.prototype, name);
    if (!handler) throw new StartupError(`declareAccess(): ${controller.name} itself has no handler ${name}`);
    access(controller.prototype as object, name, handler);
  }
}

const accesses = new PerRoute<Access | undefined>((handler, controller) => {
  const access = reflector.getAllAndOverride<Access | undefined>(ACCESS, [handler, controller]);
  const strategies = reflector.getAllAndOverride<string[] | undefined>(STRATEGIES, [handler, controller]);
  return access && strategies ? { ...access, strategies } : access;
});

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
