import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum';
import { StartupError } from '../config/startup-error';
import { parametersOf } from '../http/route-parameters';
import { nameOf } from './controller-methods';
import type { ServedRoute } from './served-route';

/**
 * Refuses handlers that take a part of the path which none of their paths has, such as `@Param('Id')` of `:id`: it would
 * be undefined in each request, and a search by it would find any row.
 */
export function requireParameters(routes: ServedRoute[]): void {
  const namesOf = new Map<object, Set<string>>();
  const declared = routes.flatMap((served) => served.declared.map((route) => ({ route, served })));
  for (const { route, served } of declared) {
    const [method] = route.targets;
    namesOf.set(method, new Set([...(namesOf.get(method) ?? []), ...served.parameterNames]));
  }
  const missing = declared.flatMap(({ route, served }) => {
    const [method] = route.targets;
    return parametersOf(method, route.owner)
      .filter(
        ({ kind, name }) => kind === RouteParamtypes.PARAM && name !== undefined && !namesOf.get(method)!.has(name),
      )
      .map(({ name }) => `  - ${nameOf(route)}: @Param('${name}') of ${served.path}`);
  });
  if (missing.length === 0) return;
  throw new StartupError(
    `These handlers take a parameter that their path doesn't have; write the name of the path:\n${[...new Set(missing)].join('\n')}`,
  );
}
