import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { requestOf } from '../auth/request-of';
import type { Precondition } from '../transactions/precondition';

/**
 * The precondition that `If-Match` or `If-None-Match` sets for a write; undefined without these headers. Pass it to
 * `updateRow()`, `deleteRow()`, `touchRow()` or `requireExpected()`, which compare it with the row.
 */
export const IfMatch = createParamDecorator((_data: unknown, context: ExecutionContext): Precondition | undefined => {
  return requestOf(context)?.work?.precondition;
});
