import type { Express } from 'express';
import { StartupError } from '../config/startup-error';
import { type Layer, RouteIndex, stackOf } from './route-index';
import type { ServedRoute } from './served-route';

/**
 * Puts routes that name their version before those of the same path that name none, so that the general route is the
 * one for all other versions, in whatever order they are declared (D-309).
 * @param routes in the order in which they were added
 */
export function preferNamed(routes: ServedRoute[], app: Express): void {
  for (const group of groupsOf(routes)) {
    const named = group.filter(({ isNamed }) => isNamed);
    const others = group.filter((route) => !named.includes(route));
    // From the last one on, so that those that name a version keep their order.
    for (const [index, route] of [...named.entries()].reverse()) {
      putBefore(
        route,
        [...others, ...named.slice(index + 1)].filter((other) => meet(route, other)),
        app,
      );
      if (route.mayPassOn) continue;
      for (const other of others.filter((one) => route.covers(one))) withdraw(other, route);
    }
  }
}

/**
 * Refuses routes that are declared twice. Nest and Express leave the second one in the table, where no request gets to
 * it, and documents show it instead of the first one.
 */
export function requireAnswering(routes: ServedRoute[]): void {
  const doubles = groupsOf(routes).flatMap((group) => {
    const ordered = [...group.filter(({ isNamed }) => isNamed), ...group.filter(({ isNamed }) => !isNamed)];
    return ordered.flatMap((route, index) => {
      const first = ordered.slice(0, index).find((earlier) => hides(earlier, route));
      return first ? [`  - ${route.method.toUpperCase()} ${route.path}: ${first.name}, then ${route.name}`] : [];
    });
  });
  if (doubles.length === 0) return;
  throw new StartupError(
    'These routes have the same method, path and version, so the second one could never answer; remove one of them, or its ' +
      'controller from the second module that lists it. A route without @Version() is in every version that no other route of its ' +
      `path names:\n${doubles.join('\n')}`,
  );
}

function groupsOf(routes: ServedRoute[]): ServedRoute[][] {
  const groups = new Map<string, ServedRoute[]>();
  for (const route of routes) groups.set(route.shape, [...(groups.get(route.shape) ?? []), route]);
  return [...groups.values()].filter(({ length }) => length > 1);
}

const meet = (one: ServedRoute, other: ServedRoute): boolean => one.covers(other) || other.covers(one);

/** Moves a route before the first of the others. The rest of the table stays in its order. */
function putBefore(route: ServedRoute, others: ServedRoute[], app: Express): void {
  const order = RouteIndex.routesOf(app);
  const placeOf = ({ layer }: ServedRoute) => order.indexOf(layer);
  const [first] = others.filter((other) => placeOf(other) < placeOf(route)).sort((a, b) => placeOf(a) - placeOf(b));
  if (!first) return;
  // An index passes OPTIONS on, which a route for all methods answers too.
  if (route.method === 'all' && !isIn(stackOf(app), first)) RouteIndex.dissolve(app);
  const [from, to] = [route, first].map((one) => (isIn(stackOf(app), one) ? stackOf(app) : one.stack));
  from.splice(from.indexOf(route.layer), 1);
  to.splice(to.indexOf(first.layer), 0, route.layer);
  route.stack = to;
}

const isIn = (stack: Layer[], { layer }: ServedRoute): boolean => stack.includes(layer);

/** Takes the versions from a route that another one answers: `Allow`, links and documents go by what is left. */
function withdraw(route: ServedRoute, { versions }: ServedRoute): void {
  for (const version of versions) route.versions.delete(version);
  route.update();
}

/** True if no request gets past the earlier route to the other one, or both say that a version is theirs. */
function hides(earlier: ServedRoute, route: ServedRoute): boolean {
  if (earlier.mayPassOn || !earlier.covers(route)) return false;
  const shared = [...route.versions].filter((version) => earlier.versions.has(version));
  const isWhole = shared.length === route.versions.size || (earlier.isNamed && route.isNamed);
  return shared.length > 0 && isWhole;
}
