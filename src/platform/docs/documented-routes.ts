import type { DeclaredRoute } from '../auth/declared-access';
import type { OperationObject } from './openapi-types';
import { operationId } from './operation-id';

/** The metadata key of `@ApiOperation`. */
const SWAGGER_OPERATION = 'swagger/apiOperation';
/** The suffix that @nestjs/swagger adds for each further path of a method. */
const ALIAS = /\[(\d+)\]$/;
/** The suffix that it adds to operations of methods that serve all HTTP methods. */
const ANY_METHOD = /_[a-z]+$/;

/** Maps the operations of a document to the methods of controllers. */
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

  /** The first path of a method has the plain id; further ones get a number. */
  operationId(controller: string, handler: string): string {
    const [, index = '0'] = ALIAS.exec(handler) ?? [];
    const id = operationId(controller, handler.replace(ALIAS, ''), this.withIds.has(controller));
    return index === '0' ? id : `${id}_${Number(index) + 1}`;
  }

  /** Undefined for an operation without a controller. */
  routeOf(path: string, method: string, { operationId = '' }: OperationObject): DeclaredRoute | undefined {
    const id = operationId.replace(/_\d+$/, '');
    const found =
      this.byOperationId.get(operationId) ??
      this.byOperationId.get(id) ??
      this.byOperationId.get(id.replace(ANY_METHOD, '')) ??
      [];
    if (found.length <= 1) return found[0];
    // Two modules may have controllers of the same name.
    return found.find(({ name }) => isAt(name, path, method)) ?? found[0];
  }
}

/** The operation id that the team has set. */
function chosenId({ targets: [handler] }: DeclaredRoute): string | undefined {
  const { operationId } = (Reflect.getMetadata(SWAGGER_OPERATION, handler) ?? {}) as { operationId?: string };
  return operationId;
}

/** @param name e.g. `GET users/:id (UsersController.get)` */
function isAt(name: string, path: string, method: string): boolean {
  const [verb, template] = name.split(' ');
  return verb.toLowerCase() === method && path.endsWith(`/${template.replace(/:(\w+)/g, '{$1}')}`);
}

/** Makes the ids of operations unique within a document. */
export function nameOnce(operations: OperationObject[]): void {
  const taken = new Set<string>();
  for (const operation of operations) {
    const { operationId = 'operation' } = operation;
    let name = operationId;
    for (let number = 2; taken.has(name); number++) name = `${operationId}_${number}`;
    taken.add((operation.operationId = name));
  }
}
