import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { requestOf } from '../auth/request-of';
import { type Controller, parametersOf } from '../http/route-parameters';
import type { Precondition } from '../transactions/precondition';

/**
 * The precondition that `If-Match` or `If-None-Match` sets for a write; undefined without these headers. Pass it to
 * `updateRow()`, `deleteRow()`, `touchRow()` or `requireExpected()`, which compare it with the row. A POST has one only by
 * this parameter.
 */
export const IfMatch = createParamDecorator(preconditionOf);

function preconditionOf(_data: unknown, context: ExecutionContext): Precondition | undefined {
  const request = requestOf(context);
  if (!request) return undefined;
  request.isConditional = true;
  return request.work?.precondition;
}

/** True if a handler has a parameter with `@IfMatch()`. */
export function takesPrecondition(handler: object, controller: Controller): boolean {
  return parametersOf(handler, controller).some(({ factory }) => factory === preconditionOf);
}
