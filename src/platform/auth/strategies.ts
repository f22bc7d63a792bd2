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
/** The strategy that knows access tokens. */
export const TOKENS = 'jwt';

/**
 * By which strategies of passport a route finds out who calls, in their order: the first that knows the caller counts. Only
 * access tokens when left out. Access is declared as ever, by @Public() or @Roles(). A strategy's `validate()` answers with a
 * {@link Caller}: a user of this service, with the roles that the key, say, has of the user's.
 * @example @Strategies('jwt', 'api-key')
 */
export const Strategies = (...names: [string, ...string[]]): CustomDecorator => SetMetadata(STRATEGIES, names);

/**
 * The strategies of every route that has no @Strategies() of its own, for a global module that provides and exports it:
 * `{ provide: DEFAULT_STRATEGIES, useValue: ['jwt', 'api-key'] }`
 */
export const DEFAULT_STRATEGIES = Symbol('default strategies');

const guards = new Map<string, CanActivate>();

/**
 * Asks strategies who calls. Undefined when no credentials came that one of them knows.
 * @throws what a strategy throws, and 401 for an `Authorization` that none of them believes
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

/** What is left out counts as long ago: a key is no password that was given just now. */
function requireCaller(user: Caller, names: string[]): Caller {
  if (isCaller(user)) return { ...user, authenticatedAt: user.authenticatedAt ?? 0 };
  throw new Error(
    `One of the strategies ${names.join(', ')} answered with something else than a Caller: validate() returns the id and the ` +
      'roles of a user of this service, { id: 7, roles: [Role.USER], authenticatedAt: 0 }',
  );
}

/** Whether it is a caller of this service, rather than what a guard of a team's own has found. */
export function isCaller(user: object): user is Caller {
  const { id, roles } = user as Partial<Caller>;
  return Number.isSafeInteger(id) && Array.isArray(roles) && roles.every((role) => typeof role === 'string');
}
