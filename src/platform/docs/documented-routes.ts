import type { DeclaredRoute } from '../auth/declared-access';
import type { OperationObject } from './openapi-types';
import { operationId } from './operation-id';

/** Where @nestjs/swagger keeps what `@ApiOperation` says of a method. */
const SWAGGER_OPERATION = 'swagger/apiOperation';
/** What @nestjs/swagger adds to the names of methods that have several paths. */
const ALIAS = /\[(\d+)\]$/;
/** And to the operations of methods that take every method of HTTP. */
const ANY_METHOD = /_[a-z]+$/;

/** Which operation of a document belongs to which method of a controller. */
export class DocumentedRoutes {
  private readonly byOperationId = new Map<string, DeclaredRoute[]>();
  private readonly withIds: Set<string>;

  constructor(routes: DeclaredRoute[]) {
    this.withIds = new Set(routes.filter(({ name }) => name.includes(':')).map(({ controller }) => controller));
    for (const route of routes) {
      const id = chosenId(route) ?? this.operationId(route.controller, route.handler);
      this.byOperationId.set(id, [...(this.byOperationId.get(id) ?? []), route]);
    }
  }

  /** Of all paths of a method the first has the name itself, and each other one has its number. */
  operationId(controller: string, handler: string): string {
    const [, index = '0'] = ALIAS.exec(handler) ?? [];
    const id = operationId(controller, handler.replace(ALIAS, ''), this.withIds.has(controller));
    return index === '0' ? id : `${id}_${Number(index) + 1}`;
  }

  /** Undefined for an operation that no controller of the application has. */
  routeOf(path: string, method: string, { operationId = '' }: OperationObject): DeclaredRoute | undefined {
    const id = operationId.replace(/_\d+$/, '');
    const found =
      this.byOperationId.get(operationId) ??
      this.byOperationId.get(id) ??
      this.byOperationId.get(id.replace(ANY_METHOD, '')) ??
      [];
    if (found.length <= 1) return found[0];
    // Two modules may each have a controller of this name.
    return found.find(({ name }) => isAt(name, path, method)) ?? found[0];
  }
}

/** What the team says itself. */
function chosenId({ targets: [handler] }: DeclaredRoute): string | undefined {
  const { operationId } = (Reflect.getMetadata(SWAGGER_OPERATION, handler) ?? {}) as { operationId?: string };
  return operationId;
}

/** @param name e.g. `GET users/:id (UsersController.get)` */
function isAt(name: string, path: string, method: string): boolean {
  const [verb, template] = name.split(' ');
  return verb.toLowerCase() === method && path.endsWith(`/${template.replace(/:(\w+)/g, '{$1}')}`);
}

/** An operation has a name of its own in a document, whatever its controller is called. */
export function nameOnce(operations: OperationObject[]): void {
  const taken = new Set<string>();
  for (const operation of operations) {
    const { operationId = 'operation' } = operation;
    let name = operationId;
    for (let number = 2; taken.has(name); number++) name = `${operationId}_${number}`;
    taken.add((operation.operationId = name));
  }
}
