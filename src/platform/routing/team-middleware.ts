import type { Express } from 'express';
import { VERSIONS } from '../http/api-version';
import { controllerMethodOf } from './controller-methods';
import { type Layer, RouteIndex, stackOf } from './route-index';
import { isMiddleware, versionsOf } from './route-versions';
import { API_PATH, ROOT, toPathAsSent, toTablePath } from './version';

const OF_TABLE = [toTablePath, toPathAsSent];

/**
 * Remembers what the service itself adds.
 * @returns whether requests pass other middleware before a controller's method
 */
export function middlewareBeside(app: Express, addOwn: () => void): (method: object) => boolean {
  const before = new Set(stackOf(app));
  addOwn();
  const own = new Set(stackOf(app).filter((layer) => !before.has(layer)));
  return (method) => {
    const routes = RouteIndex.routesOf(app);
    const paths = routes.filter((layer) => calls(layer, method)).flatMap(({ route }) => asSent(route!.path));
    // Nest adds the middleware of one method like a route.
    const added = [
      ...stackOf(app),
      ...routes.filter(({ route }) => route!.stack.some((one) => isMiddleware(one.handle))),
    ];
    return added.some((layer) => !own.has(layer) && isByHand(layer) && paths.some((path) => layer.match(path)));
  };
}

const calls = ({ route }: Layer, method: object) =>
  route!.stack.some(({ handle }) => controllerMethodOf(handle) === method);

function isByHand({ handle, route }: Layer): boolean {
  if (route) return !route.stack.some((layer) => versionsOf(layer.handle));
  return !handle.index && !OF_TABLE.includes(handle);
}

/** The paths of requests for a route of the table. What it calls its parameters stands for their values. */
function asSent(path: string): string[] {
  return [path, ...VERSIONS.map((version) => path.replace(API_PATH, `${ROOT}/v${version}`))];
}
