import type { Application, RequestHandler } from 'express';
import type { DeclaredRoute } from '../../auth/declared-access';
import type { Version } from '../../http/api-version';
import { controllerMethodOf } from '../../routing/controller-methods';
import { NO_LITERAL, RouteIndex } from '../../routing/route-index';
import { versionsOf } from '../../routing/route-versions';
import { ROOT } from '../../routing/version';
import type { ResourceLinkDto } from './index.dto';

/** The metadata keys of `@ApiExcludeEndpoint()` and `@ApiExcludeController()`, which hide routes. */
const HIDDEN_METHOD = 'swagger/apiExcludeEndpoint';
const HIDDEN_CONTROLLER = 'swagger/apiExcludeController';
const BELOW_ROOT = `${ROOT}/`;

/** The resources of a version that have a path without an id, from the routing table of the running application. */
export function linkedResources(app: Application, declared: DeclaredRoute[], version: Version): ResourceLinkDto[] {
  const hidden = new Set(declared.filter(isHidden).map(({ targets: [method] }) => method));
  const isShown = (handler: RequestHandler): boolean => {
    const method = controllerMethodOf(handler);
    return method !== undefined && !hidden.has(method) && Boolean(versionsOf(handler)?.has(version));
  };
  const methods = new Map<string, string[]>();
  for (const { route } of RouteIndex.routesOf(app)) {
    const { path, stack } = route!;
    if (typeof path !== 'string' || !path.startsWith(BELOW_ROOT) || NO_LITERAL.test(path)) continue;
    const shown = stack.filter(({ handle }) => isShown(handle)).flatMap(({ method }) => method?.toUpperCase() ?? []);
    if (shown.some(isListed)) methods.set(path, [...(methods.get(path) ?? []), ...shown.filter(isListed)]);
  }
  return [...methods.keys()].sort().map((path) => {
    const name = path.slice(BELOW_ROOT.length);
    return { name, href: `${ROOT}/v${version}/${name}`, methods: methods.get(path)! };
  });
}

/** HEAD and OPTIONS are everywhere. */
const isListed = (method: string): boolean => !['HEAD', 'OPTIONS'].includes(method);

function isHidden({ targets: [method, owner] }: DeclaredRoute): boolean {
  const { disable } = (Reflect.getMetadata(HIDDEN_METHOD, method) ?? {}) as { disable?: boolean };
  return disable === true || Reflect.getMetadata(HIDDEN_CONTROLLER, owner) !== undefined;
}
