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

/** Which callers may call a route. */
export type Access = (
  | { kind: 'public'; identifies: boolean }
  | {
      kind: 'roles';
      /** A caller needs one of these roles. */
      roles: Role[];
    }
) & {
  /** The strategies that identify the caller. Default: access tokens only */
  strategies?: string[];
};

export interface PublicOptions {
  /** Reads a token if one is sent, and refuses a bad one. Default: true */
  identifies?: boolean;
}

/** Anybody may call the route, without a token. */
export const Public = ({ identifies = true }: PublicOptions = {}): CustomDecorator =>
  SetMetadata<string, Access>(ACCESS, { kind: 'public', identifies });

/** The route needs the token of a user who has one of these roles. */
export const Roles = (...roles: Role[]): CustomDecorator =>
  SetMetadata<string, Access>(ACCESS, { kind: 'roles', roles });

/**
 * Declares the access of a library's controller, which can't be decorated. Call it in the module that imports the
 * controller, before the start.
 * @param access e.g. `Public({ identifies: false })` or `Roles(Role.ADMIN)`
 * @param handlers the methods that it holds for. Default: the whole controller
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

/** The access that is declared for the route of a request. */
export function accessOf(context: ExecutionContext): Access | undefined {
  return accesses.of(context);
}

/** True if a caller may call a route. */
export function isAllowed(access: Access | undefined, caller: Caller | undefined): boolean {
  return access?.kind === 'public' || Boolean(access?.roles.some((role) => hasRole(caller, role)));
}

/** The caller; undefined only on a {@link Public} route that was called without a token. */
export const CurrentUser = createParamDecorator((_data: unknown, context: ExecutionContext): Caller | undefined => {
  const caller = requestOf(context)?.user;
  // A WebSocket message shares the handshake request of its connection: the token may have been read for another
  // message.
  if (!caller || kindOf(context) === 'http') return caller;
  const access = accessOf(context);
  return access?.kind === 'public' && !access.identifies ? undefined : caller;
});
