import { STRATEGIES } from '../auth/strategies';
import type { OperationContext, OperationObject, SecurityScheme } from './openapi-types';

type Requirement = Record<string, string[]>;

const BEARER: Requirement = { bearer: [] };
const declared = new Map<string, SecurityScheme>();

/**
 * Says what a name in `@ApiSecurity('name')`, `@ApiBasicAuth()`, `@ApiCookieAuth()` or `@ApiOAuth2()` stands for: once, where
 * the guard is that asks for it. `bearer` is the service's own.
 */
export function declareSecurity(name: string, scheme: SecurityScheme): void {
  declared.set(name, scheme);
}

/**
 * Who may call, and what else a route says that it asks for: a guard of the team's own that stands beside the service's asks
 * for both, and one of a public route for its own alone. Where the route names several strategies, any of them will do.
 */
export function secure(operation: OperationObject, { access, route, components }: OperationContext): void {
  const own = (operation.security ?? []) as Requirement[];
  for (const name of own.flatMap((one) => Object.keys(one))) declareIn(components, name, operation);
  if (route?.targets.some((target) => Reflect.hasMetadata(STRATEGIES, target))) {
    operation.security = access?.kind === 'roles' ? [BEARER, ...own] : [{}, BEARER, ...own];
    return;
  }
  // An empty requirement beside the other: a token is welcome and not needed.
  if (access?.kind !== 'roles') operation.security = own.length > 0 ? own : access?.identifies ? [{}, BEARER] : [];
  else operation.security = own.length > 0 ? own.map((one) => ({ ...BEARER, ...one })) : [BEARER];
}

function declareIn(components: OperationContext['components'], name: string, { operationId }: OperationObject): void {
  if (name in BEARER) return;
  const scheme = declared.get(name);
  if (!scheme) {
    const way = `call declareSecurity('${name}', { ... }) of src/platform where its guard is`;
    throw new Error(`${operationId} asks for the security scheme ${name}, and nothing says what that is: ${way}`);
  }
  components.securitySchemes = { ...components.securitySchemes, [name]: scheme };
}
