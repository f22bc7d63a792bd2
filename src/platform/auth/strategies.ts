import {
  type CanActivate,
  type CustomDecorator,
  type ExecutionContext,
  HttpException,
  SetMetadata,
} from '@nestjs/common';
import { AuthGuard } from '@nestjs/passport';
import type { Request } from 'express';
import { AuthenticationError } from './auth-errors';
import type { Caller } from './caller';
import { requestOf } from './request-of';

export const STRATEGIES = 'resource-api:strategies';
/** The name of the strategy that reads access tokens. */
export const TOKENS = 'jwt';

/**
 * The passport strategies that identify the callers of a route. The first one that finds a caller counts. Default:
 * access tokens only. Access is still declared by @Public() or @Roles(). The `validate()` of a strategy returns a
 * {@link Caller}: a user of this service, with those of its roles that the credentials give.
 * @example @Strategies('jwt', 'api-key')
 */
export const Strategies = (...names: [string, ...string[]]): CustomDecorator => SetMetadata(STRATEGIES, names);

/**
 * The strategies of routes without @Strategies(). A global module provides and exports them: `{ provide:
 * DEFAULT_STRATEGIES, useValue: ['jwt', 'api-key'] }`
 */
export const DEFAULT_STRATEGIES = Symbol('default strategies');

const guards = new Map<string, CanActivate>();

/**
 * Asks the strategies for the caller. Returns undefined if the request has no credentials that one of them reads.
 * @throws the error of a strategy, or 401 for an `Authorization` that none of them accepts
 */
export async function askStrategies(names: string[], context: ExecutionContext): Promise<Caller | undefined> {
  const key = names.join();
  let guard = guards.get(key);
  if (!guard) guards.set(key, (guard = guardOf(names)));
  await guard.canActivate(context);
  const { user } = requestOf(context) as { user?: Caller };
  return user && requireCaller(user, names);
}

function guardOf(names: string[]): CanActivate {
  class StrategiesGuard extends AuthGuard(names) {
    override getRequest(context: ExecutionContext): Request | undefined {
      return requestOf(context);
    }

    override handleRequest<C>(error: unknown, caller: C | false, info: unknown, context: ExecutionContext): C {
      if (error) throw error as Error;
      if (caller) return caller;
      for (const one of [info].flat()) if (one instanceof HttpException) throw one;
      if (requestOf(context)?.headers.authorization !== undefined) throw AuthenticationError.invalidToken();
      return undefined as C;
    }
  }
  return new StrategiesGuard();
}

/** A missing `authenticatedAt` counts as long ago: a key isn't a password that was just entered. */
function requireCaller(user: Caller, names: string[]): Caller {
  if (isCaller(user)) return { ...user, authenticatedAt: user.authenticatedAt ?? 0 };
  throw new Error(
    `One of the strategies ${names.join(', ')} answered with something else than a Caller: validate() returns the id and the ` +
      'roles of a user of this service, { id: 7, roles: [Role.USER], authenticatedAt: 0 }',
  );
}

/** True for a caller of this service. A team's own guard may have set another kind of object. */
export function isCaller(user: object): user is Caller {
  const { id, roles } = user as Partial<Caller>;
  return Number.isSafeInteger(id) && Array.isArray(roles) && roles.every((role) => typeof role === 'string');
}
