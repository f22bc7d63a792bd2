import { STRATEGIES } from '../auth/strategies';
import type { OperationContext, OperationObject, SecurityScheme } from './openapi-types';

type Requirement = Record<string, string[]>;

const BEARER: Requirement = { bearer: [] };
const declared = new Map<string, SecurityScheme>();

/**
 * Defines a name in `@ApiSecurity('name')`, `@ApiBasicAuth()`, `@ApiCookieAuth()` or `@ApiOAuth2()`. Call it once,
 * beside the guard that requires the credentials. `bearer` belongs to the service.
 */
export function declareSecurity(name: string, scheme: SecurityScheme): void {
  declared.set(name, scheme);
}

/**
 * Documents the credentials of a route. A team's own guard on a route with roles requires its credentials beside the
 * token; on a public route it requires only its own. If a route has several strategies, any of them suffices.
 */
export function secure(operation: OperationObject, { access, route, components }: OperationContext): void {
  const own = (operation.security ?? []) as Requirement[];
  for (const name of own.flatMap((one) => Object.keys(one))) declareIn(components, name, operation);
  if (route?.targets.some((target) => Reflect.hasMetadata(STRATEGIES, target))) {
    operation.security = access?.kind === 'roles' ? [BEARER, ...own] : [{}, BEARER, ...own];
    return;
  }
  // An empty requirement makes the token optional.
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
