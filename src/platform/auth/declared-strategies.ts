import { GUARDS_METADATA } from '@nestjs/common/constants';
import { AuthGuard } from '@nestjs/passport';
import passport from 'passport';
import { StartupError } from '../config/startup-error';
import type { Access } from './access.decorators';
import { STRATEGIES, TOKENS } from './strategies';

interface Route {
  name: string;
  access: Access | undefined;
  targets: object[];
}

/** Passport can say whether it has a strategy, but its types don't declare that. */
type Registry = { _strategy: (name: string) => unknown };

/**
 * Refuses the start when a route names a strategy that passport doesn't have: otherwise the first caller would find
 * out.
 */
export function requireStrategies(routes: Route[], everywhere: string[] = []): void {
  const isUnknown = (name: string) => !(passport as unknown as Registry)._strategy(name);
  const unknown = routes.flatMap(({ name, targets }) => {
    const strategies = new Set([...everywhere, ...targets.flatMap(strategiesOf)]);
    return [...strategies].filter(isUnknown).map((strategy) => ({ name: `${name}: ${strategy}` }));
  });
  refuse(
    unknown,
    'These routes name a strategy that there is none of; a module has to provide the class that extends ' +
      "PassportStrategy(Strategy, '<name>')",
  );
}

const strategiesOf = (target: object): string[] =>
  (Reflect.getMetadata(STRATEGIES, target) as string[] | undefined) ?? [];

/**
 * Refuses the start for an AuthGuard() on a route with roles. Guards of a route run after the guards of the
 * application, which have answered 401 by then.
 */
export function refuseLateGuards(routes: Route[]): void {
  refuse(
    routes.filter(({ access, targets }) => access?.kind === 'roles' && targets.some(hasLateGuard)),
    "The AuthGuard() of these routes would come too late: @Roles() has the caller found out before a route's own guards, by " +
      "its access token alone. Name the strategies instead, @Strategies('jwt', 'api-key')",
  );
}

/** @throws {StartupError} that lists the routes, if there are any */
export function refuse(routes: Pick<Route, 'name'>[], reason: string): void {
  if (routes.length === 0) return;
  throw new StartupError(`${reason}:\n${routes.map(({ name }) => `  - ${name}`).join('\n')}`);
}

function hasLateGuard(target: object): boolean {
  const guards = (Reflect.getMetadata(GUARDS_METADATA, target) as unknown[] | undefined) ?? [];
  return guards.map((guard) => (typeof guard === 'function' ? (guard.prototype as unknown) : guard)).some(isLate);
}

/**
 * True for a passport guard that reads credentials other than access tokens. Passport guards are recognised by two
 * methods.
 */
function isLate(guard: unknown): boolean {
  const { handleRequest, getAuthenticateOptions } = (guard ?? {}) as Record<string, unknown>;
  const isPassport = typeof handleRequest === 'function' && typeof getAuthenticateOptions === 'function';
  return isPassport && !(guard instanceof AuthGuard(TOKENS) || guard === AuthGuard(TOKENS).prototype);
}
